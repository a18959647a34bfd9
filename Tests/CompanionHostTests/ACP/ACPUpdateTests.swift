import CompanionWire
import Testing

@testable import CompanionHost

/// What agents tell while they work, from their lines to what the readers of a turn see.
@Suite("Updates of an agent")
struct ACPUpdateTests {
    /// Takes updates as an agent writes them.
    private func events(_ updates: [String]) throws -> [TurnEvent] {
        var client = ACPClient()
        var conversation = ACPConversation()
        var events: [TurnEvent] = []
        _ = client.call(.prompt("go", session: "s"))
        for update in updates {
            let line = #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":\#(update)}}"#
            for event in client.take(ACPMessage(Array(line.utf8))) {
                guard case .update(_, let update, _) = event else { throw TestFailure("\(event)") }
                events += conversation.take(update)
            }
        }
        #expect(!client.hasFailed)
        return events
    }

    /// What is shown of a tool that has ended, after one update or more.
    private func shown(_ updates: String...) throws -> String? {
        let events = try events(
            updates.map { #"{"sessionUpdate":"tool_call_update","toolCallId":"t","title":"Run",\#($0)}"# }
        )
        guard case .tool(let call)? = events.last else { throw TestFailure("\(events)") }
        return call.output
    }

    private static let wave = AgentMedia(mimeType: "audio/wav", size: 3, data: "AAAA")
    static let contents: [(String, [TurnEvent])] = [
        (#"{"type":"text","text":"a"}"#, [.text("a")]),
        (
            #"{"type":"image","mimeType":"image/png","data":"AAAA"}"#,
            [.text("[image/png, 1 KiB]"), .media(AgentMedia(mimeType: "image/png", size: 3, data: "AAAA"))]
        ),
        (
            #"{"type":"audio","mimeType":"audio/wav","data":"AAAA","annotations":null}"#,
            [.text("[audio/wav, 1 KiB]"), .media(wave)]
        ),
        (#"{"type":"audio"}"#, [.text("[audio, 1 KiB]"), .media(AgentMedia(mimeType: "audio", size: 0, data: nil))]),
        (#"{"type":"resource_link","name":"plan.md","uri":"file:///p"}"#, [.text("plan.md (file:///p)")]),
        (#"{"type":"resource_link","name":"n","title":"Plan","uri":"file:///p"}"#, [.text("Plan (file:///p)")]),
        (#"{"type":"resource_link","uri":"file:///p"}"#, [.text("file:///p")]),
        (#"{"type":"resource","resource":{"uri":"file:///p","text":"words"}}"#, [.text("words")]),
        (#"{"type":"resource","resource":{"uri":"file:///p","blob":"AAAA"}}"#, [.text("file:///p")]),
        (#"{"type":"resource"}"#, []),
        (#"{"type":"later","x":1}"#, []),
        ("null", []),
    ]

    @Test("Each kind of content is in the answer as text, and a picture or a sound beside it", arguments: contents)
    func content(_ content: String, _ expected: [TurnEvent]) throws {
        let said = try events([#"{"sessionUpdate":"agent_message_chunk","content":\#(content)}"#])
        #expect(said == expected)
        let words = expected.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
        let thought = try events([#"{"sessionUpdate":"agent_thought_chunk","content":\#(content)}"#])
        #expect(thought == [.thought(words)])
        let given = try shown(#""status":"completed","content":[{"type":"content","content":\#(content)}]"#)
        #expect(given == (words.isEmpty ? nil : words))
    }

    @Test(
        "What shows nothing is a sign of life",
        arguments: [
            #"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"my own words"}}"#,
            #"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"web","description":"d"}]}"#,
            #"{"sessionUpdate":"session_info_update","title":"A title","updatedAt":"2026-01-02T03:04:05Z"}"#,
            #"{"sessionUpdate":"current_mode_update","currentModeId":"plan"}"#,
            #"{"sessionUpdate":"config_option_update","configOptions":[{"id":"m","category":"mode","currentValue":"a"}]}"#,
            #"{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"x"}]}"#,
            #"{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.01,"currency":"USD"}}"#,
            #"{"sessionUpdate":"later","x":[1,{"y":null}]}"#, #"{"x":1}"#, "7", "null",
        ]
    )
    func signOfLife(_ update: String) throws {
        #expect(try events([update]).isEmpty)
    }

    @Test("A change of the mode reaches the driver, of newer and of older agents; a title does not name the chat")
    func modes() throws {
        #expect(ACPUpdate(["sessionUpdate": "current_mode_update", "currentModeId": "plan"]) == .mode("plan"))
        let option: JSONValue = ["id": "m", "category": "mode", "currentValue": "yolo", "options": []]
        let update = ACPUpdate(["sessionUpdate": "config_option_update", "configOptions": [option]])
        guard case .modes(let modes) = update else { throw TestFailure("\(update)") }
        #expect(modes.current == "yolo" && modes.setter == .option("m"))
        let title = ACPUpdate(["sessionUpdate": "session_info_update", "title": "A title"])
        #expect(title == .other("session_info_update"))
    }

    @Test(
        "Members of another type are no error, whatever the kind",
        arguments: ["null", "true", "-1", "1.5", #""x""#, "[]", "[null,7,{}]", "{}", #"{"type":[]}"#]
    )
    func malformed(_ junk: String) throws {
        let kinds = [
            "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan",
            "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
            "usage_update",
        ]
        let names = [
            "content", "toolCallId", "title", "kind", "status", "locations", "rawInput", "rawOutput", "entries",
            "currentModeId", "configOptions", "modes", "used", "availableCommands",
        ]
        let members = names.map { #""\#($0)":\#(junk)"# }.joined(separator: ",")
        let toolMembers = names.filter { $0 != "toolCallId" }.map { #""\#($0)":\#(junk)"# }.joined(separator: ",")
        let updates = kinds.map { #"{"sessionUpdate":"\#($0)",\#(members)}"# }
        let tool = #"{"sessionUpdate":"tool_call","toolCallId":"t",\#(toolMembers)}"#
        // A thought, a plan and the last tool; a text is an id of a tool, too.
        #expect(try events(updates + [tool]).count == (junk == #""x""# ? 5 : 3))
    }

    static let outputs: [(String, String?)] = [
        (#""rawOutput":"two\nlines""#, "two\nlines"),
        (#""rawOutput":{"stdout":"a/b","exit_code":0}"#, #"{"exit_code":0,"stdout":"a/b"}"#),
        (#""rawOutput":[1.5,null,true]"#, "[1.5,null,true]"), (#""rawOutput":7"#, "7"),
        (#""rawOutput":false"#, "false"),
        (#""rawOutput":null"#, nil), (#""rawOutput":"""#, nil), (#""rawOutput":{}"#, nil), (#""rawOutput":[]"#, nil),
        (#""rawOutput":"raw","content":[]"#, "raw"),
        (#""rawOutput":"raw","content":[{"type":"content","content":{"type":"text","text":"own"}}]"#, "own"),
        (#""rawOutput":"raw","content":[{"type":"diff","path":"a","newText":"b"}]"#, nil),
        (#""rawOutput":"raw","content":[{"type":"terminal","terminalId":"t-1"}]"#, "raw"),
        (#""content":[{"type":"terminal","terminalId":"t-1"}]"#, "output in the agent's terminal t-1"),
        (
            #""content":[{"type":"terminal","terminalId":"t\n1"},{"type":"terminal","terminalId":"2"}]"#,
            "output in the agent's terminal t 1\noutput in the agent's terminal 2"
        ),
        (
            #""content":[{"type":"terminal","terminalId":"t"},{"type":"content","content":{"type":"text","text":"own"}}]"#,
            "own"
        ),
        (#""content":[{"type":"terminal"}]"#, nil), (#""content":[{"type":"later","text":"x"}]"#, nil),
    ]

    @Test("Of a tool, its own text is shown, else what it returned, else its terminal", arguments: outputs)
    func output(_ members: String, _ expected: String?) throws {
        #expect(try shown(#""status":"completed",\#(members)"#) == expected)
    }

    @Test("What a tool returned stays until it ends, and gives way to its own text, whichever comes first")
    func order() throws {
        let raw = #""rawOutput":"raw""#
        let own = #""content":[{"type":"content","content":{"type":"text","text":"own"}}]"#
        #expect(try shown(raw, #""status":"completed""#) == "raw")
        #expect(try shown(raw, own, #""status":"completed""#) == "own")
        #expect(try shown(own, raw, #""status":"completed""#) == "own")
        #expect(try shown(own, raw, #""content":[],"status":"failed""#) == "raw")
    }

    @Test("What a tool returned is cut like its own text")
    func size() throws {
        let text = String(repeating: "x", count: ACPConversation.outputSize + 10)
        let beginning = String(text.prefix(ACPConversation.outputSize))
        #expect(try shown(#""rawOutput":"\#(text)""#) == beginning + "\n… (10 more bytes)")
        let list = try #require(try shown(#""rawOutput":["\#(text)"]"#))
        #expect(list.utf8.count < ACPConversation.outputSize + 40 && list.begins(with: #"["xxx"#))
        let terminal = #"{"type":"terminal","terminalId":"\#(text.prefix(100))"}"#
        let terminals = [String](repeating: terminal, count: 200).joined(separator: ",")
        let lines = try #require(try shown(#""content":[\#(terminals)]"#))
        #expect(lines.utf8.count < ACPConversation.outputSize + 40 && lines.ends(with: " more bytes)"))
    }

    @Test("How a turn ends is not the agent's to say")
    func ends() {
        var frames = AgentFrames()
        let events: [TurnEvent] = [
            .done(files: 1), .failed(TurnFailure("no")), .unknown(type: "x"), .begun(turnID: "t"), .recovering("on"),
            .finished(FinishedTurn(answer: "a", usage: nil, wasRecovered: false)),
        ]
        let sent = events.flatMap { frames.take($0) }
        #expect(sent.isEmpty)
    }

    @Test("A tool that an agent names by its beginning and its end is one call")
    func namedTool() {
        var frames = AgentFrames()
        let start = TurnEvent.toolStart(name: "list", id: "1")
        let end = TurnEvent.toolComplete(name: "list", id: "1", success: false, details: "no such file")
        #expect(frames.take(start) == [start])
        #expect(frames.take(end) == [end])
    }

    @Test("Readers get what a tool returned with its end")
    func frames() {
        var frames = AgentFrames()
        let call = ToolReport(id: "t", title: "Run", status: .completed, output: #"{"ok":true}"#)
        let end = TurnEvent.toolComplete(
            name: "Run",
            id: "t",
            success: true,
            details: #"{"ok":true}"#
        )
        #expect(frames.take(.tool(call)) == [.toolStart(name: "Run", id: "t"), end])
    }
}
