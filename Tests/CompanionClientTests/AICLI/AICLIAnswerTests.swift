import Testing

@testable import CompanionClient

@Suite struct AICLIAnswerTests {
    @Test("Pieces are set apart by blank lines, as they were cut there")
    func pieces() {
        var answer = AICLIAnswer()
        #expect(answer.add("One.") == "One.")
        #expect(answer.add("Two.") == "\n\nTwo.")
        #expect(answer.add("\nThree.") == "\nThree.")
    }

    @Test("What the whole has beyond the pieces is shown, and nothing twice")
    func completion() {
        var answer = AICLIAnswer()
        _ = answer.add("# Plan")
        _ = answer.add("First, the login.")
        #expect(answer.complete(with: "# Plan\n\nFirst, the\nlogin. Then the rest.") == ". Then the rest.")
        var same = AICLIAnswer()
        _ = same.add("Done.")
        #expect(same.complete(with: "Done.\n") == "")
    }

    @Test("Another answer than the pieces is shown whole")
    func different() {
        var answer = AICLIAnswer()
        _ = answer.add("I think so")
        #expect(answer.complete(with: "Certainly not.") == nil)
        #expect(answer.shown == "Certainly not.")
    }

    @Test("Without a whole, what was shown is the answer")
    func noWhole() {
        var answer = AICLIAnswer()
        _ = answer.add("Half")
        #expect(answer.complete(with: " ") == "")
        #expect(answer.shown == "Half")
    }

    @Test("A piece that says again what the last ones said is left out")
    func repetition() {
        var answer = AICLIAnswer()
        _ = answer.add("One.")
        _ = answer.add("Two.")
        #expect(answer.add("One. Two.") == nil)
        #expect(answer.add("Three.") != nil)
    }

    @Test("Letters that are written in two ways do not break the comparison in the middle of one")
    func combining() {
        var answer = AICLIAnswer()
        _ = answer.add("Cafe\u{301}")
        #expect(answer.complete(with: "Caf\u{E9} au lait") == " au lait")
    }

    @Test(
        "A piece that has all that was said and more shows what is new; one that goes on behind an answer is set apart"
    )
    func accumulated() {
        var answer = AICLIAnswer()
        _ = answer.add("First I look at the login.")
        #expect(answer.add("First I look at the login.\n\nThen I mend it.") == "\n\nThen I mend it.")
        #expect(answer.complete(with: "First I look at the login.\n\nThen I mend it.") == "")
        var next = AICLIAnswer(isBehind: true)
        #expect(next.add("More.") == "\n\nMore." && next.shown == "More.")
        var whole = AICLIAnswer(isBehind: true)
        #expect(whole.complete(with: "More.") == "\n\nMore." && whole.shown == "More.")
    }
}
