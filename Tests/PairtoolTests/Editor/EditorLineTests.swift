import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Identity
import NIOConcurrencyHelpers
import Testing

@testable import pairtool

/// `pairtool acp` over connections that break, and with a host that means harm.
@Suite("Lines between editors and hosts", .serialized, .timeLimit(.minutes(15))) struct EditorLineTests {
    /// Runs a body with a host of the fake agent and a user who has paired with it.
    private func withHost(
        _ body: @escaping @Sendable (_ events: HostEvents, _ owner: Sandbox, _ user: Sandbox) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let agent = try FakeACPAgent.command(in: owner.directory)
            let arguments = [
                "--name", "Shed", "--project", owner.directory + "/garden", "--acp", "--agent-command",
                agent.joined(separator: " "),
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                try await body(events, owner, user)
            }
        }
    }

    private func move(_ user: Sandbox, to port: Int) throws {
        let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(port)"))
        // It is the only place where the host is looked for.
        try PairedHostStore(directory: user.directory + "/data/pairtool").update { hosts in
            (hosts.hosts[0].endpoint, hosts.hosts[0].namedEndpoint) = (endpoint, endpoint)
        }
    }

    /// The words of the agent's messages.
    private func said(_ updates: [JSONValue]) -> [String] {
        updates.filter { $0["sessionUpdate"] == "agent_message_chunk" }.compactMap { $0["content"]?["text"]?.string }
    }

    @Test("A connection that is cut a thousand times in fifty turns loses and doubles no update, and no prompt")
    func cuts() async throws {
        let (turns, cuts, words) = (50, 1_000, 240)
        try await withHost { events, owner, user in
            try await withCutRelay(before: try await events.ports.secure) { relay in
                let dice = NIOLockedValueBox((dice: SplitMix(state: 20_261_128), drawn: 0))
                try move(user, to: relay.port)
                try await TestEditor.with(user) { editor in
                    let session = try await editor.begin(in: owner.directory + "/garden")
                    _ = await editor.takeUpdates()
                    var wanted = (0..<words).map { "\($0) " }
                    wanted.insert("y ", at: words / 2 + 1)
                    let steps = (0..<words).filter { $0 % 10 == 9 }.map { "c\($0)" }
                    for turn in 1...turns {
                        let left = cuts * turn / turns - relay.cuts
                        relay.cutEach(times: left) {
                            // A handshake has 2 KiB or so: every third connection comes further.
                            dice.withLockedValue { state in
                                state.drawn += 1
                                return state.dice.roll(5_000) + (state.drawn % 3 == 0 ? 4_000 : 0)
                            }
                        }
                        let answer = await editor.prompt("count \(words)", in: session)
                        let updates = await editor.takeUpdates()
                        try #require(answer["stopReason"] == "end_turn", "\(turn): \(answer)")
                        #expect(said(updates) == wanted, "\(turn)")
                        let tools = updates.compactMap { $0["toolCallId"]?.string }.filter { $0 != "t" }
                        #expect(tools == steps, "\(turn)")
                    }
                    #expect(await editor.asked.count { $0 == "session/request_permission" } == turns)
                    #expect(relay.cuts == cuts)
                }
                let files = try FileManager.default.contentsOfDirectory(atPath: owner.directory)
                let memory = try #require(files.first { $0.hasPrefix("memory-") })
                let prompts = try String(contentsOfFile: owner.directory + "/" + memory, encoding: .utf8)
                #expect(prompts == String(repeating: "count \(words)\n", count: turns))
            }
        }
    }

    @Test("A thread that is opened while its turn runs shows what has come, goes on with it, and does not end it")
    func opened() async throws {
        try await withHost { _, owner, user in
            let directory = owner.directory + "/garden"
            try await TestEditor.with(user) { first in
                let session = try await first.begin(in: directory)
                await first.hold()
                async let answer = first.prompt("count 4", in: session)
                await first.see("2 ")
                try await TestEditor.with(user) { second in
                    await second.call("initialize", ["protocolVersion": 1, "clientCapabilities": [:]])
                    let place: JSONValue = [
                        "sessionId": .string(session), "cwd": .string(directory), "mcpServers": [],
                    ]
                    // What it cancels is its own.
                    await second.notify("session/cancel", ["sessionId": .string(session)])
                    let loaded = await second.call("session/load", place)
                    #expect(loaded["code"] == nil, "\(loaded)")
                    // It gives the leave that the first one has not given yet.
                    await second.see("3 ")
                    let updates = await second.updates
                    #expect(updates.first?["sessionUpdate"] == "user_message_chunk")
                    #expect(said(updates) == ["0 ", "1 ", "2 ", "y ", "3 "], "\(updates)")
                }
                #expect(await answer["stopReason"] == "end_turn")
                #expect(await first.asked == ["session/request_permission", "$/cancel_request"])
                #expect(said(await first.updates) == ["0 ", "1 ", "2 ", "y ", "3 "])
            }
        }
    }

    @Test("Whatever a host sends, an editor is told updates and asked for leave, and nothing else")
    func hostile() async throws {
        let frames = [
            #"{"request":{"approvalId":"a","method":"fs/write_text_file","parameters":"{\"path\":\"/x\"}"}}"#,
            #"{"request":{"approvalId":"a","method":"terminal/create","parameters":"{\"command\":\"sh\"}"}}"#,
            #"{"request":{"approvalId":"a","method":"session/request_permission","parameters":"{}\n{\"id\":1}"}}"#,
            #"{"request":{"approvalId":"a","method":"elicitation/create\n{}","parameters":"{}"}}"#,
            #"{"update":"text"}"#, #"{"update":[1]}"#, #"{"update":{"content":{}}}"#,
            #"{"update":{"sessionUpdate":"agent_message_chunk\n{\"method\":\"x\"}"}}"#,
            #"{"update":{"sessionUpdate":"tool_call","toolCallId":"h","sessionId":"other","locations":[{"path":"/etc/shadow"}],"#
                + #""content":[{"type":"terminal","terminalId":"t"}]}}"#,
            #"{"answer":"text"}"#, #"{"unknown":1}"#,
        ]
        let hostile = frames.map { #"{"type":"agent_acp","v":1,"# + $0.dropFirst() }
        try await withHost { events, owner, user in
            let sent = NIOLockedValueBox(0)
            let certificate = try TestCertificate(hostFile: owner.directory + "/data/pairtool/host/tls.pem")
            try await withTLSInterceptor(
                before: try await events.ports.secure,
                certificate: certificate,
                rewrite: { Self.replace($0, by: hostile, sent) }
            ) { interceptor in
                try move(user, to: interceptor.port)
                try await TestEditor.with(user) { editor in
                    let session = try await editor.begin(in: owner.directory + "/garden")
                    _ = await editor.takeUpdates()
                    let prompt = "say \(Self.mark)" + String(repeating: "x", count: 400)
                    for _ in hostile {
                        let answer = await editor.prompt(prompt, in: session)
                        #expect(answer["stopReason"] == "end_turn", "\(answer)")
                    }
                    #expect(sent.withLockedValue { $0 } == hostile.count)
                    // A question that there is, with another method.
                    async let asked = editor.prompt("ask", in: session)
                    var id: String?
                    while id == nil {
                        id = try await owner.spawn(["host", "approvals", "--json"]).json.first?["id"]?.string
                    }
                    _ = try await owner.spawn(["host", "approvals", "approve", try #require(id)])
                    #expect(await asked["stopReason"] == "end_turn")
                    #expect(await editor.asked == [], "neither another method nor a question that nobody asked")
                    let updates = await editor.takeUpdates()
                    #expect(updates.allSatisfy { $0["sessionUpdate"]?.string != nil }, "\(updates)")
                    let tool = try #require(updates.first { $0["toolCallId"] == "h" })
                    #expect(tool["locations"] == [] && tool["content"]?.array?.first?["type"] == "content", "\(tool)")
                }
            }
        }
    }

    private static let mark = "HARMLESS"

    /// Puts a frame of a hostile host in the place of each with the mark, and another method in that of a request, with as
    /// many bytes.
    private static func replace(_ bytes: [UInt8], by frames: [String], _ sent: NIOLockedValueBox<Int>) -> [UInt8]? {
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(#""session/request_permission""#, with: #""fs/write_text_file"        "#)
        guard let start = text.firstRange(of: #"{"type":"agent_acp""#)?.lowerBound, text[start...].contains(mark) else {
            return Array(text.utf8)
        }
        guard let end = text[start...].firstRange(of: "\n\n")?.lowerBound else { return nil }
        let frame = sent.withLockedValue { count in
            defer { count += 1 }
            return frames[count % frames.count]
        }
        let padded = frame + String(repeating: " ", count: text[start..<end].utf8.count - frame.utf8.count)
        return Array((text[..<start] + padded + text[end...]).utf8)
    }
}

/// Numbers that are the same in each run (SplitMix64).
private struct SplitMix {
    var state: UInt64

    mutating func roll(_ sides: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(sides))
    }
}
