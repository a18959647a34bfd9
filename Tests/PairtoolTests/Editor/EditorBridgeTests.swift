import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// `pairtool acp` between an editor and the agent of a host.
@Suite(.serialized, .timeLimit(.minutes(15))) struct EditorBridgeTests {
    /// A host with the fake agent, a paired user, and the command of the agent itself.
    private struct Bench: Sendable {
        var host: Sandbox
        var user: Sandbox
        var agent: [String]
        var project: String { host.directory + "/garden" }

        /// What an editor of the user sees while it does something with `pairtool acp`.
        func edit(_ options: [String] = [], _ steps: [JSONValue]) async throws -> [JSONValue] {
            try await run([BuiltTool.path, "acp"] + options, steps)
        }

        /// The same with the agent itself.
        func direct(_ steps: [JSONValue]) async throws -> [JSONValue] { try await run(agent, steps) }

        private func run(_ agent: [String], _ steps: [JSONValue]) async throws -> [JSONValue] {
            let command = try FakeEditor.command(in: user.directory, agent: agent)
            let typed = steps.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined()
            let result = try await user.spawn(program: command, stdin: typed)
            let seen = result.out.split(separator: "\n").compactMap { JSONValue(lenient: Array($0.utf8)) }
            try #require(result.status == 0 && seen.last == ["ended"], "\(result)")
            return Array(seen.dropLast())
        }
    }

    private func withBench(
        _ options: [String] = [],
        _ body: @escaping @Sendable (Bench) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let agent = try FakeACPAgent.command(in: owner.directory) + options
            let arguments = [
                "--name", "Shed", "--project", owner.directory + "/garden", "--acp", "--agent-command",
                agent.joined(separator: " "),
            ]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                try await body(Bench(host: owner, user: user, agent: agent))
            }
        }
    }

    private static let initialize: JSONValue = [
        "call", "initialize",
        ["protocolVersion": 1, "clientCapabilities": ["elicitation": ["form": [:], "url": [:]]]],
    ]

    private static func new(_ directory: String) -> JSONValue {
        ["call", "session/new", ["cwd": .string(directory), "mcpServers": []]]
    }

    private static func prompt(_ text: String, _ word: JSONValue = "call") -> JSONValue {
        [word, "session/prompt", ["sessionId": "$session", "prompt": [["type": "text", "text": .string(text)]]]]
    }

    /// The kinds of what was seen.
    private static func words(_ seen: [JSONValue]) -> [String] {
        seen.map { event in
            let parts = event.array ?? []
            let kind = parts.dropFirst(2).first?["sessionUpdate"]?.string
            return ([parts.first?.string, kind ?? parts.dropFirst().first?.string]).compactMap(\.self)
                .joined(separator: " ")
        }
    }

    @Test("An editor sees the same of an agent through pairtool as of the agent itself")
    func same() async throws {
        try await withBench(["modes", "load"]) { bench in
            let form =
                #"elicit {"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":"#
                + #"{"size":{"type":"integer","minimum":1},"name":{"type":"string"}},"required":["size"]}}"#
            let steps: [JSONValue] =
                [Self.initialize, Self.new(bench.project)]
                + ["say hello", "think", "show 2", "ask"].map { Self.prompt($0) } + [
                    ["decide", "reject_once"], Self.prompt("ask"),
                    ["form", ["action": "accept", "content": ["size": 3]]],
                    Self.prompt(form), ["form", ["action": "cancel"]], Self.prompt(form), Self.prompt("tokens"),
                    Self.prompt("refuse"), Self.prompt("where"),
                ]
            let direct = try await bench.direct(steps)
            let bridged = try await bench.edit([], steps)
            // What pairtool is, and what the agent is, differ.
            #expect(Self.words(direct).first == "answer initialize" && Self.words(bridged).first == "answer initialize")
            let (seen, wanted) = (
                Array(bridged.dropFirst()), direct.dropFirst().map(FakeEditor.withoutLastingAnswers)
            )
            #expect(Self.words(seen) == Self.words(wanted))
            for (own, other) in zip(seen, wanted) {
                // Paths are whole ones.
                let texts = [own, other].map {
                    String(decoding: $0.json, as: UTF8.self).replacing(bench.project + "/", with: "")
                }
                #expect(texts[0] == texts[1])
            }
        }
    }

    @Test("Sessions are chats: none without a prompt, listed, loaded with what was said, and continued")
    func sessions() async throws {
        try await withBench { bench in
            let first = try await bench.edit(
                [],
                [Self.initialize, Self.new(bench.project), Self.new(bench.project), Self.prompt("say hello")]
            )
            #expect(first.last?.array?.last?["stopReason"] == "end_turn", "\(first)")
            let chats = try await bench.user.spawn(["chats", "--json"]).json
            #expect(chats.map { $0["title"]?.string } == ["say hello"], "\(chats)")
            let id = try #require(chats.first?["id"]?.string)
            let place: JSONValue = ["cwd": .string(bench.project)]
            let seen = try await bench.edit(
                [],
                [
                    Self.initialize, ["call", "session/list", place],
                    [
                        "call", "session/load",
                        ["sessionId": .string(id), "cwd": .string(bench.project), "mcpServers": []],
                    ],
                    [
                        "call", "session/prompt",
                        ["sessionId": .string(id), "prompt": [["type": "text", "text": "recall"]]],
                    ],
                    ["call", "session/load", ["sessionId": "none", "cwd": .string(bench.project), "mcpServers": []]],
                ]
            )
            let list = try #require(seen.first { $0.array?.dropFirst().first == "session/list" })
            #expect(list.array?.last?["sessions"]?.array?.map { $0["sessionId"]?.string } == [id], "\(list)")
            #expect(
                Self.words(seen).dropFirst(2).prefix(3) == [
                    "notice user_message_chunk", "notice agent_message_chunk", "answer session/load",
                ]
            )
            #expect(seen.contains { $0.array?.last?["content"]?["text"] == "say hello" })
            #expect(seen.last?.array?.prefix(3) == ["error", "session/load", -32002], "\(seen.last ?? .null)")
            #expect(try await bench.user.spawn(["chats", "--json"]).json.count == 1)
        }
    }

    @Test("A question is the editor's and everybody else's: the first answer counts, the others are told")
    func elsewhere() async throws {
        try await withBench { bench in
            async let seen = bench.edit(
                [],
                [
                    Self.initialize, Self.new(bench.project), ["hold"], Self.prompt("ask", "begin"),
                    ["see", "request_permission"], ["see", "cancel_request"], ["end"],
                ]
            )
            var id: String?
            while id == nil {
                id = try await bench.host.spawn(["host", "approvals", "--json"]).json.first?["id"]?.string
            }
            let answer = try await bench.host.spawn(["host", "approvals", "approve", try #require(id)])
            #expect(answer.status == 0, "\(answer)")
            let events = try await seen
            #expect(events.contains { $0.array?.last?["content"]?["text"] == "chosen: y" }, "\(events)")
            #expect(
                events.contains {
                    $0.array?.last?["content"]?["text"]?.string?.hasPrefix("The owner has answered") == true
                }
            )
        }
    }

    @Test("A prompt that the editor cancels ends at the host, too")
    func cancelled() async throws {
        try await withBench { bench in
            let seen = try await bench.edit(
                [],
                [
                    Self.initialize, Self.new(bench.project), Self.prompt("wait", "begin"), ["see", "waiting"],
                    ["notify", "session/cancel", ["sessionId": "$session"]], ["end"], Self.prompt("say again"),
                ]
            )
            let answers = seen.filter { $0.array?.dropFirst().first == "session/prompt" }.map {
                $0.array?.last?["stopReason"]
            }
            #expect(answers == ["cancelled", "end_turn"], "\(seen)")
        }
    }

    @Test("The editor's directory is a project by its path, by a stored one, or as it is named; never by a guess")
    func projects() async throws {
        try await withBench { bench in
            let other = bench.user.directory + "/copy"
            try FileManager.default.createDirectory(atPath: other + "/beds", withIntermediateDirectories: true)
            let steps = [Self.initialize, Self.new(other), Self.prompt("show 2"), Self.prompt("where")]
            let refused = try await bench.edit([], steps)
            let text = refused.dropFirst().first?.array?.last?.string ?? ""
            #expect(refused.dropFirst().first?.array?.dropFirst(2).first == -32602, "\(refused)")
            #expect(text.contains("garden (\(bench.project))") && text.contains("pairtool acp map"), "\(text)")
            let wrong = try await bench.user.spawn(["acp", "map", other + "/none", "garden"])
            #expect(wrong.status == 2 && wrong.err.contains("is not a directory"), "\(wrong)")
            let stored = try await bench.user.spawn(["acp", "map", other, "garden"])
            #expect(stored.status == 0 && stored.out.contains("is garden"), "\(stored)")
            for (options, directory) in [([], other), ([], other + "/beds"), (["--project", "garden"], other)] {
                let seen = try await bench.edit(
                    options,
                    [Self.initialize, Self.new(directory), Self.prompt("show 2"), Self.prompt("where")]
                )
                let places = seen.compactMap { $0.array?.last?["locations"]?.array?.first?["path"]?.string }
                #expect(places.first?.hasSuffix("/copy/a.txt") == true, "\(seen)")
                #expect(seen.contains { $0.array?.last?["content"]?["text"]?.string == bench.project }, "\(seen)")
            }
        }
    }

    @Test("Whatever the editor sends, the process goes on; a host that is not paired is said")
    func faults() async throws {
        try await withBench { bench in
            let seen = try await bench.edit(
                [],
                [
                    ["raw", "no message"], ["see", "stray"],
                    ["call", "initialize", ["protocolVersion": 99, "clientCapabilities": [:]]],
                    ["call", "session/prompt", ["sessionId": "none", "prompt": [["type": "text", "text": "x"]]]],
                    ["call", "fs/read_text_file", ["path": "/etc/hostname"]], ["call", "session/new", ["cwd": "here"]],
                    Self.new(bench.project), Self.prompt(" "), Self.prompt("say still here"),
                ]
            )
            #expect(seen.first == ["stray", -32700])
            #expect(seen.dropFirst().first?.array?.last?["protocolVersion"] == 1)
            let codes = seen.filter { $0.array?.first == "error" }.compactMap { $0.array?.dropFirst(2).first?.integer }
            #expect(codes == [-32002, -32601, -32602, -32602], "\(seen)")
            #expect(seen.contains { $0.array?.last?["content"]?["text"] == "still here" })
        }
        try await Sandbox.with { user in
            let bench = Bench(host: user, user: user, agent: [])
            let seen = try await bench.edit([], [Self.initialize, Self.new("/")])
            #expect(seen.last?.array?.dropFirst(2).first == -32000, "\(seen)")
            #expect(seen.last?.array?.last?.string?.contains("pairtool pair") == true)
        }
    }

    @Test("A host's own agent, which speaks no such protocol, is an editor's agent as well")
    func builtin() async throws {
        try await withProject { owner, user in
            try Data("one\n".utf8).write(to: URL(filePath: owner.directory + "/garden/a.txt"))
            let arguments = ["--name", "Shed", "--project", owner.directory + "/garden"]
            try await withRunningHost(owner, arguments) { events in
                try await user.pair(try await events.payload.text)
                let bench = Bench(host: owner, user: user, agent: [])
                let seen = try await bench.edit([], [Self.initialize, Self.new(bench.project), Self.prompt("list .")])
                #expect(seen.last?.array?.last?["stopReason"] == "end_turn", "\(seen)")
                let text = seen.compactMap { event -> String? in
                    guard event.array?.last?["sessionUpdate"] == "agent_message_chunk" else { return nil }
                    return event.array?.last?["content"]?["text"]?.string
                }.joined()
                #expect(text.contains("a.txt"), "\(seen)")
            }
        }
    }

    @Test("The editor sets the agent's mode if its device may answer for the owner, and never one that asks nothing")
    func modes() async throws {
        try await withBench(["modes"]) { bench in
            let set: (String) -> JSONValue = {
                ["call", "session/set_mode", ["sessionId": "$session", "modeId": .string($0)]]
            }
            let seen = try await bench.edit(
                [],
                [Self.initialize, Self.new(bench.project), set("ask"), set("yolo"), Self.prompt("say still here")]
            )
            let made = try #require(seen.first { $0.array?.dropFirst().first == "session/new" })
            #expect(made.array?.last?["modes"]?["currentModeId"] == "ask", "\(made)")
            #expect(
                Self.words(seen.filter { $0.array?.dropFirst().first == "session/set_mode" }) == [
                    "answer session/set_mode", "error session/set_mode",
                ],
                "\(seen)"
            )
        }
    }
}
