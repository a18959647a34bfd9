import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// The protocol without a process: bytes in, events and bytes out.
@Suite("The Agent Client Protocol as a state machine", .timeLimit(.minutes(15)))
struct ACPClientTests {
    /// What an agent says in a whole conversation, with every kind of update.
    private static let script = [
        #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}},"agentInfo":{"name":"x","version":"1"},"authMethods":[{"id":"a","name":"A"}],"schema_version":"v1"}}"#,
        #"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"yolo","name":"YOLO"}]}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm 🚀"}}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[{"content":"Look","priority":"high","status":"completed"},{"content":"Do","priority":"low","status":"in_progress"}]}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Edit garden.txt","kind":"edit","status":"pending","locations":[{"path":"garden.txt","line":3}],"rawInput":{"n":1.5}}}}"#,
        #"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t1","content":[{"type":"diff","path":"garden.txt","oldText":"a\nb\n","newText":"a\nc\n"}]},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"Y","name":"Always","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"},{"optionId":"?","name":"Hm","kind":"new_kind"}]}}"#,
        #"{"jsonrpc":"2.0","id":"srv_1","method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/etc/passwd"}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.01,"currency":"USD"}}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"something_new","x":[1,2,{"y":null}]}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Grüße 🚀\n"}}}}"#,
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AAAA"}}}}"#,
        #"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}}"#,
    ]

    /// A client, by reference, and the lines that it is fed with.
    private final class Peer {
        private var client = ACPClient()
        private var lines: ACPLines
        private var isFlooded = false

        init(_ maximumLine: Int = ACPClient.maximumLine) {
            lines = ACPLines(limit: maximumLine)
        }

        var hasFailed: Bool { client.hasFailed || isFlooded }
        func call(_ call: ACPCall) -> Int { client.call(call) }
        func cancel(session: String) -> [Int] { client.cancel(session: session) }
        func decide(_ key: Int, _ decision: ApprovalAnswer) -> Bool { client.decide(key, with: decision) }
        func takeOutput() -> [UInt8] { client.takeOutput() }
        func receive(_ bytes: some Sequence<UInt8>) -> [ACPClient.Event] {
            guard !isFlooded else { return [] }
            var events: [ACPClient.Event] = []
            let isWhole = Array(bytes).withUnsafeBytes { bytes in
                lines.take(bytes) { line in
                    let messages = ACPMessage.all(in: line)
                    for message in messages { events += client.take(message) }
                    if messages.isEmpty { events += client.take(nil) }
                    return !client.hasFailed
                }
            }
            isFlooded = !isWhole
            return isWhole ? events : events + [.fault(.flood)]
        }
    }

    /// A client that has asked all that the script answers.
    private func client(_ maximumLine: Int = ACPClient.maximumLine) -> Peer {
        let client = Peer(maximumLine)
        #expect(client.call(.initialize(version: "1")) == 0)
        #expect(client.call(.newSession(directory: "/p")) == 1)
        #expect(client.call(.prompt("go", session: "s-1")) == 2)
        _ = client.takeOutput()
        return client
    }

    private func bytes(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) + [0x0A] }

    private func output(_ client: Peer) -> [String] {
        String(decoding: client.takeOutput(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Says in one line what each event is.
    private func names(_ events: [ACPClient.Event]) -> [String] {
        events.map { event in
            switch event {
            case .answer(let number, .success(let value)):
                "answer \(number) \(String(decoding: value.json, as: UTF8.self).count)"
            case .answer(let number, .failure(let refusal)): "refusal \(number) \(refusal.code) \(refusal.message)"
            case .update(let session, let update, _): "\(session) \(update)"
            case .replay(let session, _, _): "replay \(session)"
            case .question(let question):
                "question \(question.key) \(question.call.id) \(question.options.map(\.kind.rawValue))"
            case .form(let form): "form \(form.key) \(form.question)"
            case .linkDone(let session): "link done \(session)"
            case .withdrawn(let key): "withdrawn \(key)"
            case .fault(let fault): "fault \(fault)"
            }
        }
    }

    @Test("A whole conversation is understood, in whatever pieces its bytes come")
    func splits() {
        let all = bytes(Self.script)
        let whole = client()
        let expected = names(whole.receive(all))
        let written = output(whole)
        #expect(expected.count == Self.script.count, "no request for a file, and a question that nobody answered")
        #expect(expected.contains("question 0 t1 [\"allow_once\", \"allow_always\", \"reject_once\", \"other\"]"))
        // The question was still open when the prompt was answered.
        #expect(expected.suffix(2).first == "withdrawn 0")
        #expect(written.count == 2)
        #expect(written[0].contains("-32601") && written[0].contains("srv_1"))
        #expect(written[1].contains(#""outcome":"cancelled""#) && written[1].contains(#""id":0"#))

        let single = client()
        var events: [ACPClient.Event] = []
        for byte in all { events += single.receive([byte]) }
        #expect(names(events) == expected)
        for place in stride(from: 0, to: all.count, by: 7) {
            let client = client()
            var events = client.receive(all[..<place])
            events += client.receive(all[place...])
            #expect(names(events) == expected)
            #expect(output(client) == written)
        }
    }

    @Test("Every beginning of a conversation is harmless")
    func prefixes() {
        for count in 0...Self.script.count {
            let client = client()
            let all = bytes(Array(Self.script.prefix(count)))
            let events = client.receive(all)
            #expect(!client.hasFailed)
            #expect(events.count <= count + 1)
        }
    }

    @Test("Both sides' ids may be the same, and the agent's may be texts")
    func ids() throws {
        for id in ["2", #""2""#, #""srv_é""#, "-7"] {
            let client = client()
            let ask = Self.script[6].replacing("\"id\":0", with: "\"id\":\(id)")
            let events = client.receive(bytes([Self.script[0], Self.script[1], ask]))
            guard case .question(let question)? = events.last else { throw TestFailure("no question") }
            // The agent's answer to our request of the same number comes first.
            let answered = bytes([Self.script[14].replacing("end_turn", with: "max_tokens")])
            _ = client.decide(question.key, .option("y"))
            #expect(
                output(client) == [
                    #"{"id":\#(id),"jsonrpc":"2.0","result":{"outcome":{"optionId":"y","outcome":"selected"}}}"#
                ]
            )
            #expect(names(client.receive(answered)).first?.hasPrefix("answer 2") == true)
        }
    }

    @Test("A question is decided once, and only by one of its options")
    func once() {
        let client = client()
        _ = client.receive(bytes(Array(Self.script.prefix(7))))
        #expect(!client.decide(0, .option("nothing")))
        #expect(!client.decide(1, .option("y")))
        #expect(client.decide(0, .option("n")))
        #expect(!client.decide(0, .option("y")))
        #expect(output(client).count == 1)
    }

    @Test("A cancelled prompt answers its questions, those that come later too, and hears updates until its end")
    func cancel() {
        let client = client()
        _ = client.receive(bytes(Array(Self.script.prefix(7))))
        #expect(client.cancel(session: "s-1") == [0])
        #expect(client.cancel(session: "s-1") == [])
        var written = output(client)
        #expect(written.count == 2)
        #expect(written[0].contains("session/cancel"))
        #expect(written[1].contains("cancelled"))
        #expect(!client.decide(0, .option("y")), "nothing is allowed behind a cancellation")
        let later = [Self.script[6].replacing("\"id\":0", with: "\"id\":1"), Self.script[12]]
        let events = names(client.receive(bytes(later)))
        #expect(events.count == 1 && events[0].contains("Grüße"))
        written = output(client)
        #expect(written == [#"{"id":1,"jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}"#])
        let end = #"{"id":2,"result":{"stopReason":"cancelled"}}"#
        #expect(names(client.receive(bytes([end, end]))).count == 1, "a second answer is none")
        // A question outside of a prompt finds nobody.
        #expect(client.receive(bytes([Self.script[6]])).isEmpty)
        #expect(output(client)[0].contains("cancelled"))
    }

    @Test("Lines of 8 MB pass, one beyond the limit ends the conversation")
    func long() throws {
        let text = String(repeating: "0123456789abcde\\n", count: 1 << 19)
        let line = Self.script[12].replacing("Grüße 🚀", with: text)
        let large = client()
        let events = large.receive(bytes([line, Self.script[14]]))
        guard case .update(_, .agentMessage(.text(let received)), _)? = events.first else {
            throw TestFailure("no text")
        }
        #expect(received.utf8.count == 16 * (1 << 19) + 1)
        #expect(events.count == 2)
        for size in [1000, 1001] {
            let small = client(1000)
            let blank = [UInt8](repeating: 0x20, count: size - 2)
            let events = small.receive([0x7B] + blank + [0x7D, 0x0A])
            #expect(small.hasFailed == (size > 1000))
            #expect(names(events) == (size > 1000 ? ["fault flood"] : []))
        }
        let endless = client(1000)
        let piece = [UInt8](repeating: 0x61, count: 999)
        #expect(endless.receive(piece).isEmpty)
        #expect(names(endless.receive(piece)) == ["fault flood"])
        #expect(endless.receive(bytes(Self.script)).isEmpty, "nothing follows a fault")
    }

    @Test("Lines that are no messages are passed over, up to a limit in a row")
    func garbage() {
        let noise = [
            "Welcome!", "[1,2]", "{", "\"text\"", "{\"a\":1}", "null", "\u{FEFF}", "{\"id\":null,\"result\":1}",
        ]
        let client = client()
        let events = client.receive(bytes(noise + [Self.script[0]] + noise))
        #expect(events.count == 1)
        let lines = bytes(Array(repeating: "noise", count: ACPClient.maximumGarbage - noise.count))
        #expect(client.receive(lines).isEmpty)
        #expect(names(client.receive(bytes(["one more", Self.script[1]]))) == ["fault garbage"])
    }

    @Test(
        "A message is found behind what an agent prints on its line",
        arguments: [
            "\u{1B}]0;garden: ready\u{7}", "\u{1B}[2K\u{1B}[1G\u{1B}[?25h", "\u{FEFF}", "Loading configuration... ",
            "[INFO] {not json} ", #"{"level":30,"id":2,"msg":"starting"}"#, "\r 50 %\r 100 %\r", "\0", "{",
        ]
    )
    func behindText(text: String) {
        let plain = names(client().receive(bytes(Self.script)))
        #expect(names(client().receive(bytes(Self.script.map { text + $0 }))) == plain)
        #expect(names(client().receive(bytes(Self.script.map { $0 + text }))) == plain)
        // With nothing between them.
        #expect(names(client().receive(bytes([Self.script.joined(separator: text)]))) == plain)
    }

    @Test("An answer counts whose id has become a text, and one without a result is none")
    func textIDs() {
        for id in ["0", "0.0", #""0""#] {
            let client = client()
            #expect(
                names(client.receive(bytes([#"{"jsonrpc":"2.0","id":\#(id),"result":{"protocolVersion":1}}"#]))).count
                    == 1
            )
        }
        for line in [#"{"id":0}"#, #"{"id":"x","result":1}"#, #"{"id":0,"level":30,"msg":"x"}"#] {
            #expect(client().receive(bytes([line])).isEmpty, "\(line)")
        }
    }

    @Test("A message inside another one, or in a broken one, is none")
    func inside() {
        let inner = #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#
        let deep = String(repeating: "[", count: 200)
        for line in [
            #"{"level":30,"msg":\#(inner)}"#, #"{"jsonrpc":"2.0","x":\#(inner),oops}"#,
            #"{"jsonrpc":"2.0","method":"x","params":\#(deep)\#(inner)"#, #"x {"level":30,"msg":\#(inner)} y"#,
        ] {
            #expect(client().receive(bytes([line])).isEmpty, "\(line.prefix(80))")
        }
    }

    @Test("Bytes that are no text and halves of characters do not lose a message")
    func invalid() throws {
        let client = client()
        let line = Array(Self.script[12].utf8)
        let place = try #require(line.indices.first { line[$0...].starts(with: "Grüße".utf8) })
        var broken = line
        broken.replaceSubrange(place..<(place + 2), with: [0xFF, 0xFE])
        let half = Self.script[12].replacing("Grüße", with: #"\ud83d"#)
        let events = client.receive((broken + [0x0D, 0x0A, 0x0A] + bytes([half])))
        let texts = events.compactMap { event in
            if case .update(_, .agentMessage(let content), _) = event { content.text } else { nil }
        }
        #expect(texts == ["\u{FFFD}\u{FFFD}üße 🚀\n", "\u{FFFD} 🚀\n"])
    }

    @Test("Requests for files, terminals and whatever comes are refused, notices that nobody knows are left alone")
    func unknown() {
        let client = client()
        let methods = ["fs/write_text_file", "terminal/create", "x"]
        let requests = methods.map { #"{"id":"\#($0)","method":"\#($0)","params":{}}"# }
        let events = client.receive(bytes(requests + [#"{"method":"$/x"}"#, #"{"method":"session/update"}"#]))
        #expect(events.isEmpty)
        let written = output(client)
        #expect(written.count == 3)
        #expect(written.allSatisfy { $0.contains("-32601") })
        _ = client.receive(bytes([#"{"id":5,"method":"session/request_permission","params":{}}"#]))
        #expect(output(client)[0].contains("-32602"))
    }

    @Test("What a loaded session replays is no answer")
    func replay() {
        let client = Peer()
        _ = client.call(.loadSession("s-1", directory: "/p"))
        let events = client.receive(bytes([Self.script[12], #"{"id":0,"result":{}}"#, Self.script[12]]))
        #expect(names(events).prefix(2) == ["replay s-1", "answer 0 2"])
        #expect(names(events).count == 3)
    }

    @Test("How freely an agent works counts, also while a session is being loaded")
    func replayedMode() {
        let option = #"{"id":"m","category":"mode","currentValue":"yolo","options":[]}"#
        let update = Self.script[9].replacing(#""currentModeId":"yolo""#, with: #""configOptions":[\#(option)]"#)
            .replacing("current_mode_update", with: "config_option_update")
        let client = Peer()
        _ = client.call(.loadSession("s-1", directory: "/p"))
        let events = client.receive(bytes([Self.script[9], update, #"{"id":0,"result":{}}"#]))
        let modes = events.compactMap { event -> String? in
            switch event {
            case .update("s-1", .mode(let id), _): id
            case .update("s-1", .modes(let modes), _): "option \(modes.current)"
            default: nil
            }
        }
        #expect(modes == ["yolo", "option yolo"], "\(names(events))")
        #expect(events.count { if case .replay("s-1", _, _) = $0 { true } else { false } } == 2, "signs of life")
    }

    @Test("An agent of another version is not spoken to, one that says none is")
    func version() {
        let later = Peer()
        _ = later.call(.initialize(version: "1"))
        let two = bytes([#"{"id":0,"result":{"protocolVersion":2}}"#])
        #expect(names(later.receive(two)).first == "fault version(2)")
        let silent = Peer()
        _ = silent.call(.initialize(version: "1"))
        _ = silent.receive(bytes([#"{"id":0,"result":{}}"#]))
        #expect(!silent.hasFailed)
    }

    @Test("It offers neither files nor terminals")
    func offers() throws {
        let client = Peer()
        _ = client.call(.initialize(version: "1.2"))
        let value = try #require(JSONValue(lenient: client.takeOutput()))
        #expect(value["params"]?["clientCapabilities"] == ["elicitation": ["form": [:], "url": [:]]])
        #expect(value["params"]?["protocolVersion"] == 1)
    }

    @Test("JSON that is nested too deeply is no message")
    func depth() {
        let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(ACPMessage(Array(#"{"method":"x","params":\#(deep)}"#.utf8)) == nil)
        let endless = String(repeating: "[", count: 1 << 20)
        #expect(ACPMessage(Array(endless.utf8)) == nil)
    }

    static let freeModes = [
        "bypassPermissions", "Bypass Permissions", "yolo", "YOLO mode", "full-access", "Agent (full access)",
        "full_auto",
        "Full Auto", "danger-full-access", "dangerously-skip-permissions", "Always approve", "Auto-approve all",
        "Allow all tools", "accept_all", "never-ask", "Auto (no approvals)", "Autopilot", "unrestricted",
        "https://agentclientprotocol.com/protocol/session-modes#autopilot", "yolo#1", "Y\u{212A}-YOLO",
    ]
    static let askingModes = [
        "plan", "default", "ask", "Always Ask", "acceptEdits", "Accept Edits", "Auto-accept edits", "auto_edit",
        "dontAsk",
        "auto", "agent", "read-only", "smart_approve", "approve", "manual", "code", "chat", "build", "architect",
    ]

    @Test(
        "A mode asks nothing if its id or its name says so, in whatever words it does",
        arguments: freeModes.map { ($0, true) } + askingModes.map { ($0, false) }
    )
    func freedom(_ words: String, _ isFree: Bool) throws {
        for (id, name) in [(words, "Mode"), ("m-1", words)] {
            let list: JSONValue = .array([["id": .string(id), "name": .string(name)]])
            let modes = try #require(ACPModes(["modes": ["currentModeId": .string(id), "availableModes": list]]))
            #expect(modes.asksNothing(in: id, more: []) == isFree)
        }
        #expect(ACPModes(current: words).asksNothing(in: words, more: []) == isFree, "one that was not listed")
    }

    @Test("Modes that ask nothing are known by id and by name")
    func modes() throws {
        func modes(_ current: String, _ all: [String]) throws -> ACPModes {
            let list = all.map { JSONValue.object(["id": .string($0), "name": .string($0)]) }
            return try #require(
                ACPModes(["modes": ["currentModeId": .string(current), "availableModes": .array(list)]])
            )
        }
        for id in [
            "bypassPermissions", "yolo", "full-access",
            "https://agentclientprotocol.com/protocol/session-modes#autopilot",
        ] {
            let found = try modes(id, ["plan", "default", id])
            #expect(found.asksNothing(in: id, more: []))
            #expect(found.askingMode(more: []) == "default")
        }
        let goose = try modes("auto", ["auto", "approve", "chat"])
        #expect(!goose.asksNothing(in: "auto", more: []))
        #expect(goose.asksNothing(in: "auto", more: ["auto"]))
        #expect(goose.askingMode(more: ["auto"]) == "approve")
        let option: JSONValue = [
            "configOptions": [
                [
                    "id": "m", "category": "mode", "currentValue": "yolo",
                    "options": [["value": "yolo", "name": "Yolo"]],
                ]
            ]
        ]
        let newer = try #require(ACPModes(option))
        #expect(newer.setter == .option("m") && newer.asksNothing(in: newer.current, more: []))
        #expect(newer.askingMode(more: []) == nil)
        let endless = String(repeating: "x", count: 500)
        #expect(ACPModes(current: endless).name(of: endless).unicodeScalars.count == 100)
        let blank = String(repeating: " ", count: 100)
        let names: [JSONValue] = [.null, "", " \n", .string(blank + "Plan")]
        for name in names {
            let list: JSONValue = .array([["id": "plan", "name": name]])
            let unnamed = try #require(ACPModes(["modes": ["currentModeId": "plan", "availableModes": list]]))
            #expect(unnamed.name(of: "plan") == "plan")
        }
    }
}
