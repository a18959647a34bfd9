import CompanionWire
import Testing

@testable import CompanionHost

@Suite("Changes of files as an agent proposes them")
struct AgentDiffTests {
    @Test("A change is shown as diff -u shows it")
    func unified() {
        let lines = (1...20).map { "line \($0)" }
        var changed = lines
        changed[9] = "ten"
        changed.insert("between", at: 15)
        let diff = AgentDiff(
            path: "a.txt",
            old: lines.joined(separator: "\n") + "\n",
            new: changed.joined(separator: "\n") + "\n"
        )
        #expect(diff.change(in: nil).counts == (2, 1))
        #expect(
            diff.unified == """
                --- a.txt
                +++ a.txt
                @@ -7,12 +7,13 @@
                 line 7
                 line 8
                 line 9
                -line 10
                +ten
                 line 11
                 line 12
                 line 13
                 line 14
                 line 15
                +between
                 line 16
                 line 17
                 line 18

                """
        )
    }

    @Test("New files, emptied files and files without a last line break are shown whole")
    func edges() {
        #expect(
            AgentDiff(path: "n", old: nil, new: "a\nb").unified == "--- /dev/null\n+++ n\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        )
        #expect(AgentDiff(path: "n", old: "a\n", new: "").unified == "--- n\n+++ n\n@@ -1,1 +0,0 @@\n-a\n")
        #expect(AgentDiff(path: "n", old: "a\n", new: "a\n").unified == "--- n\n+++ n\n")
    }

    @Test("Spellings of a character that look the same are a change")
    func bytes() {
        #expect(AgentDiff(path: "n", old: "e\u{301}\n", new: "é\n").change(in: nil).counts == (1, 1))
    }

    @Test("A large change needs no long comparison")
    func large() {
        let old = (0..<20_000).map { "\($0)\n" }.joined()
        let new = (0..<20_000).map { "\($0 * 7)\n" }.joined()
        #expect(AgentDiff(path: "n", old: old, new: new).change(in: nil).counts == (19_999, 19_999))
    }
}
