import Testing

@testable import LineEditor

struct HistoryTests {
    let lines = ["git log", "make Test", "two\nlines", "git push"]

    @Test("Arrow-Up and Arrow-Down walk through the history, and the draft comes back")
    func walk() {
        var state = LineState.after("dra", history: lines)
        state.type(Bytes.up)
        #expect(state.shown == "git push|")
        state.type(Bytes.up)
        #expect(state.shown == "two\nlines|")
        // Within several lines, the keys move the cursor first.
        state.type(Bytes.up)
        #expect(state.shown == "two|\nlines")
        state.type(Bytes.up + Bytes.up)
        #expect(state.shown == "git log|")
        #expect(state.type(Bytes.up) == [.bell])
        state.type("\u{E}\u{E}\u{E}\u{E}ft")
        #expect(state.shown == "draft|")
        #expect(state.type("\r") == [.accept("draft")])
    }

    @Test("A line that is too long to edit is like a paste, wherever it comes from")
    func long() {
        let text = String(repeating: "0123456789\n", count: 1_000_000)
        var state = LineState(history: [text])
        state.type(Bytes.up)
        #expect(state.buffer.position.count == 1)
        state = LineState()
        state.replace(text)
        #expect(state.buffer.position.count == 1)
        #expect(state.type("\r") == [.accept(text)])
    }

    @Test("Lines are remembered once in a row, and a limited number of them")
    func remember() {
        var state = LineState()
        for line in ["a", "a", "b", "", "a"] { state.remember(line) }
        #expect(state.history.lines == ["a", "b", "a"])
        for number in 0..<1500 { state.remember("\(number)") }
        #expect(state.history.lines.count == 1000)
        #expect(state.history.lines.first == "500")
    }

    @Test("Ctrl-R finds older lines, Ctrl-S newer ones, and Enter takes the match")
    func search() {
        var state = LineState(history: lines)
        state.type("\u{12}git")
        #expect(state.buffer.text == "git push")
        state.type("\u{12}")
        #expect(state.buffer.text == "git log")
        #expect(state.type("\u{12}") == [.bell])
        state.type("\u{13}")
        #expect(state.buffer.text == "git push")
        #expect(state.type("\r") == [.accept("git push")])
    }

    @Test("Ctrl-G leaves a search with the line from before; another key keeps the match and acts on it")
    func leave() {
        var state = LineState.after("dra\u{12}test", history: lines)
        #expect(state.buffer.text == "make Test")
        state.type("\u{7}ft")
        #expect(state.shown == "draft|")
        state.type("\u{12}Test\u{1}x")
        #expect(state.shown == "x|make Test")
        #expect(state.search == nil)
    }

    @Test("A search for what is not there rings, and Backspace goes on from before; capitals are exact")
    func fail() {
        var state = LineState(history: lines)
        #expect(state.type("\u{12}gitx") == [.bell])
        state.type("\u{7F}")
        #expect(state.search?.match == 3)
        state.type("\u{7}\u{12}T")
        #expect(state.search?.match == 1)
        #expect(state.type("\u{3}") == [.drop(wasEmpty: false)])
    }

    @Test("Tab asks with the text before the cursor; one candidate is inserted, and of several what they share")
    func complete() throws {
        var state = LineState()
        let request = try #require(state.type("/sa x\u{2}\u{2}\t").first?.request)
        #expect(request.text == "/sa")
        #expect(state.complete(request, with: Completion(word: "/sa", candidates: ["/save "])) == nil)
        #expect(state.shown == "/save | x")
        // It has been answered: the text is another one now.
        #expect(state.complete(request, with: Completion(word: "/sa", candidates: ["/save "])) == nil)
        #expect(state.shown == "/save | x")

        state = .after("see @Re")
        let files = try #require(state.type("\t").first?.request)
        _ = state.complete(files, with: Completion(word: "@Re", candidates: ["@README.md", "@README.txt"]))
        #expect(state.shown == "see @README.|")
        #expect(state.candidates.isEmpty)
        let again = try #require(state.type("\t").first?.request)
        _ = state.complete(again, with: Completion(word: "@README.", candidates: ["@README.md", "@README.txt"]))
        #expect(state.candidates == ["@README.md", "@README.txt"])
        state.type("m")
        #expect(state.candidates.isEmpty)
    }
}
