import CompanionWire
import Testing

@testable import CompanionHost

@Suite("A question shows all that would be done") struct ACPQuestionTextTests {
    /// What a question of a tool shows, after earlier updates of the same call.
    private func shown(_ call: String, after updates: String..., in directory: String? = nil) throws -> ProposedTool {
        var conversation = ACPConversation()
        conversation.directory = directory
        for update in updates {
            let value = try #require(
                JSONValue(lenient: Array(#"{"sessionUpdate":"tool_call","toolCallId":"t",\#(update)}"#.utf8))
            )
            _ = conversation.take(ACPUpdate(value))
        }
        let options = #"[{"optionId":"y","name":"Yes","kind":"allow_once"}]"#
        let json = #"{"sessionId":"s","toolCall":{"toolCallId":"t",\#(call)},"options":\#(options)}"#
        let value = try #require(JSONValue(lenient: Array(json.utf8)), "\(json)")
        return conversation.question(try #require(ACPQuestion(key: 0, value: value)))
    }

    private static let diff = #""content":[{"type":"diff","path":"a.txt","oldText":"one\n","newText":"two\n"}]"#

    @Test("Beside a difference, every other argument is shown", arguments: ["edit", "delete", "move", "execute"])
    func besideDifference(kind: String) throws {
        let input = #""rawInput":{"file_path":"a.txt","new_string":"two\n","run_after":"two\n","mode":"0777"}"#
        let text = try shown(#""title":"Edit","kind":"\#(kind)",\#(Self.diff),\#(input)"#).arguments
        #expect(text.hasPrefix("--- a.txt\n") && text.contains("-one\n+two\n"), "\(text)")
        #expect(text.contains(#""run_after" : "two\n""#) && text.contains(#""mode" : "0777""#), "\(text)")
        #expect(!text.contains("new_string") && !text.contains("file_path"), "the difference shows them: \(text)")
        let other = try shown(
            #""title":"Edit","kind":"\#(kind)",\#(Self.diff),"rawInput":{"path":"b","command":"make"}"#
        )
        #expect(other.arguments.hasPrefix("make\n") && other.arguments.contains(#""path" : "b""#), "\(other)")
    }

    @Test("Paths in the agent's directory begin there; those that lead out of it are whole")
    func relativePaths() throws {
        let paths = ["/p/src/a b.txt", "/p/../etc/passwd", "/p2/x", "/p/./y", "/p"]
        let diffs = paths.map { #"{"type":"diff","path":"\#($0)","oldText":"1\n","newText":"2\n"}"# }
        let places = #""locations":[{"path":"/p/src/b","line":3},{"path":"/p//c"}]"#
        let content = #""content":[\#(diffs.joined(separator: ","))]"#
        let asked = try shown(#""title":"Edit","kind":"edit",\#(content),\#(places)"#, in: "/p")
        let shown = ["src/a b.txt"] + paths.dropFirst()
        #expect(
            asked.arguments.hasPrefix(
                "path: src/b:3\npath: /p//c\nFiles that would change: \(shown.joined(separator: ", "))\n--- src/a b.txt\n+++ src/a b.txt\n"
            ),
            "\(asked.arguments)"
        )
        for path in shown { #expect(asked.arguments.contains("\n--- \(path)\n+++ \(path)\n")) }
        // Rules look at the agent's own words.
        #expect(asked.call.locations.map(\.path) == ["/p/src/b", "/p//c"])
        #expect(asked.call.changes.map(\.path) == paths)
        #expect(asked.call.changes.map(\.shownPath) == shown)
    }

    @Test("An old or a new text is left out only if the difference shows all of it", arguments: [7, 8])
    func wholeTexts(lines: Int) throws {
        let old = (1...lines).map { "line \($0)\\n" }.joined()
        let new = old.replacing("line 4\\n", with: "other\\n")
        let diff = #""content":[{"type":"diff","path":"a.txt","oldText":"\#(old)","newText":"\#(new)"}]"#
        let input = #""rawInput":{"path":"a.txt","old_text":"\#(old)","text":"\#(new)"}"#
        let text = try shown(#""title":"Edit","kind":"edit",\#(diff),\#(input)"#).arguments
        #expect(text.contains("-line 4\n+other\n") && text.contains("line \(lines)"), "\(text)")
        // Three lines around a change are shown.
        let isWhole = lines == 7
        #expect(text.contains("old_text") != isWhole && text.contains(#""text" :"#) != isWhole, "\(text)")
        #expect(!text.contains(#""path" :"#), "\(text)")
    }

    @Test("A text that is no change at all is shown")
    func unchanged() throws {
        let diff = #""content":[{"type":"diff","path":"a.txt","oldText":"one\n","newText":"one\n"}]"#
        let text = try shown(#""title":"Edit","kind":"edit",\#(diff),"rawInput":{"content":"one\n"}"#).arguments
        #expect(text.contains(#""content" : "one\n""#), "\(text)")
    }

    static let commands: [(String, String)] = [
        (#"["rm","-r","my build"]"#, "rm -r 'my build'"), (#"["git","log --output=x"]"#, "git 'log --output=x'"),
        (#"["bash","-lc","git status; rm x"]"#, "bash -lc 'git status; rm x'"), (#"["echo",""]"#, "echo ''"),
        (#"["echo","it's"]"#, #"echo 'it'\''s'"#), (#"["A=b","c=d"]"#, "'A=b' c=d"), (#"["ls","~","*"]"#, "ls '~' '*'"),
        (#"["ls","a\nb"]"#, "ls 'a\nb'"), (#""ls | head""#, "ls | head"), (#"["ls"],"args":["a b"]"#, "ls 'a b'"),
        (#""ls","args":[]"#, "ls"),
    ]

    @Test("The words of a command are quoted where they would look like others", arguments: commands)
    func quoted(command: String, expected: String) throws {
        let question = try shown(#""title":"Run","kind":"execute","rawInput":{"command":\#(command)}"#)
        #expect(question.command == expected && question.arguments == expected + "\n")
    }

    @Test("A word with a blank is not two words to a rule")
    func rule() throws {
        let rule = AgentRule(effect: .allow, command: "git log")
        for (command, effect) in [(#"["git","log"]"#, AgentRule.Effect.allow), (#"["git log"]"#, nil)] {
            let question = try shown(#""title":"Run","kind":"execute","rawInput":{"command":\#(command)}"#)
            #expect(AgentRule.deciding([rule], on: ToolUse(question, directory: "/nowhere"))?.effect == effect)
        }
    }

    @Test("Blocks of text are shown beside the arguments, in full, and once")
    func blocks() throws {
        let long = String(repeating: "x", count: ACPConversation.outputSize + 10)
        func block(_ text: String) -> String {
            #""content":[{"type":"content","content":{"type":"text","text":"\#(text)"}}]"#
        }
        let input = #""kind":"execute","rawInput":{"command":"make"}"#
        #expect(try shown(#""title":"Run",\#(input),\#(block(long))"#).arguments == "make\n\(long)\n")
        #expect(try shown(#""title":"Run",\#(input)"#, after: block(long)).arguments == "make\n\(long)\n")
        #expect(try shown(#""title":"Run",\#(input),\#(block("make"))"#).arguments == "make\n")
        let beside =
            #""content":[{"type":"content","content":{"type":"text","text":"then run it"}},"#
            + Self.diff.dropFirst(#""content":["#.count)
        let text = try shown(#""title":"Edit","kind":"edit",\#(beside)"#).arguments
        #expect(text.contains("+two\n") && text.hasSuffix("then run it\n"), "\(text)")
    }

    @Test("Content that this version does not know, or cannot show as text, is shown as it came")
    func others() throws {
        let items = #"{"type":"later","run":"x"},{"type":"content","content":{"type":"later","n":1}},{"type":"diff"}"#
        let text = try shown(#""title":"Run","content":[\#(items)]"#).arguments
        #expect(text.contains(#""run" : "x""#) && text.contains(#""n" : 1"#) && text.contains("+++ /?"), "\(text)")
    }

    @Test("A title that is cut, or has several lines, is shown in full too")
    func title() throws {
        let long = String(repeating: "a", count: ACPConversation.titleLength) + " && rm -r x"
        let question = try shown(#""title":"\#(long)""#)
        #expect(question.arguments == long + "\n" && question.call.title.hasSuffix("a…"))
        #expect(try shown(#""title":"ls\nrm x""#).arguments == "ls\nrm x\n")
        #expect(try shown(#""title":" Run it ""#).arguments.isEmpty)
        let command = #""rawInput":{"command":"\#(long)"}"#
        #expect(try shown(#""title":"\#(long)",\#(command)"#).arguments == long + "\n", "once")
    }

    @Test("However many differences there are, comparing them takes no more time than one")
    func manyDifferences() throws {
        let old = (0..<40).map { "a\($0)" }.joined(separator: "\\n")
        let new = (0..<40).map { "b\($0)" }.joined(separator: "\\n")
        let item = #"{"type":"diff","path":"a.txt","oldText":"\#(old)","newText":"\#(new)"}"#
        for count in [1, 2, 1000] {
            let items = [String](repeating: item, count: count).joined(separator: ",")
            let json = #"{"toolCallId":"t","title":"Edit","content":[\#(items)]}"#
            let call = try #require(JSONValue(lenient: Array(json.utf8)).flatMap { ACPToolCall($0) })
            let diffs = try #require(call.diffs)
            #expect(diffs.count == count && diffs.reduce(0) { $0 + $1.comparedLines } <= AgentDiff.mostComparedLines)
            #expect(diffs.allSatisfy { $0.change(in: nil).counts == (40, 40) }, "all is shown, compared or not")
        }
    }

    @Test("What is too long says so before anything else")
    func tooLong() throws {
        let long = String(repeating: "x", count: ACPQuestionText.size + 100)
        let text = try shown(#""title":"Run","rawInput":{"command":"\#(long)"}"#).arguments
        #expect(text.hasPrefix("This is too long to be shown: 101 more bytes"), "\(text.prefix(100))")
        #expect(text.hasSuffix("… (101 more bytes)\n"))
    }

    @Test("What was too long to be kept counts as missing, of a title and of a text")
    func tooLongToKeep() throws {
        let size = ACPQuestionText.size
        let long = String(repeating: "x", count: 2 * size + 100)
        let content = #""content":[{"type":"content","content":{"type":"text","text":"\#(long)"}}]"#
        let calls: [(String, Int)] = [
            (#""title":"Run",\#(content)"#, size + 101), (#""title":"\#(long)""#, size + 101),
            (#""title":"\#(long)",\#(content)"#, 3 * size + 202),
            (#""title":"Run","rawInput":{"command":"make"},\#(content)"#, size + 106),
        ]
        for (call, missing) in calls {
            let question = try shown(call)
            let text = question.arguments
            #expect(text.hasPrefix("This is too long to be shown: \(missing) more bytes"), "\(text.prefix(100))")
            #expect(text.hasSuffix("x\n… (\(missing) more bytes)\n"), "\(text.suffix(100))")
        }
        let output = try #require(try shown(#""title":"Run",\#(content)"#).call.output)
        #expect(output.hasSuffix("x\n… (\(long.utf8.count - ACPConversation.outputSize) more bytes)"))
    }

    @Test("A text is cut at the end of a character")
    func cutCharacters() {
        for size in 4...7 {
            let cut = CutText("abcd🌊ef", atMost: size)
            #expect(cut.text == "abcd" && cut.missing == 6 && cut.marked == "abcd\n… (6 more bytes)")
        }
        let shorter = CutText("abcd🌊ef", atMost: 8).cut(to: 3)
        #expect(shorter.text == "abc" && shorter.missing == 7)
        #expect(CutText("🌊", atMost: 4).marked == "🌊")
    }

    @Test("A call that was asked about says so to its readers, and another one that it was not")
    func asked() throws {
        var conversation = ACPConversation()
        func update(_ id: String, _ status: String) throws -> TurnEvent? {
            let json = #"{"sessionUpdate":"tool_call","toolCallId":"\#(id)","title":"Run","status":"\#(status)"}"#
            return conversation.take(ACPUpdate(try #require(JSONValue(lenient: Array(json.utf8))))).first
        }
        let options: JSONValue = [["optionId": "y", "name": "Yes", "kind": "allow_once"]]
        let question: JSONValue = ["sessionId": "s", "toolCall": ["toolCallId": "t"], "options": options]
        _ = try update("t", "pending")
        _ = conversation.question(try #require(ACPQuestion(key: 0, value: question)))
        for (id, wasAsked) in [("t", true), ("u", false)] {
            guard case .tool(let call)? = try update(id, "completed") else { Issue.record("no tool"); continue }
            #expect(call.asked == wasAsked)
            var frames = AgentFrames()
            let reports = frames.take(.tool(call)).compactMap { frame in
                if case .tool(let report) = frame { report.asked } else { nil as Bool? }
            }
            #expect(reports == (wasAsked ? [] : [false]))
        }
    }
}
