import AsyncHTTPClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOCore
import Testing

@testable import CompanionHost

/// Several agents of one host, and several processes of one agent.
@Suite("Several agents", .timeLimit(.minutes(15)))
struct AgentRosterTests {
    private func launch(_ id: String, in directory: String, _ options: String...) throws -> HostAgentKind {
        let place = "\(directory)/\(id)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let command = try FakeACPAgent.command(in: place) + options
        return .acp(ACPLaunch(id: id, name: id.uppercased(), command: command))
    }

    /// Sends a prompt to a chat, and returns the answer's text.
    private func say(_ prompt: String, to chat: String, of device: TestDevice, model: String?) async throws -> String {
        let sent = try await device.execute(
            .chatSend(chatID: chat, prompt: prompt, model: model, allowedTools: nil)
        )
        let turn = try #require(sent.result["turnId"]?.string)
        let reply = try await device.events(chat: chat, turn: turn)
        var decoder = ContinueChatStreamDecoder(isNumbered: true)
        return try decoder.feed(reply.body.utf8).reduce(into: "") { text, item in
            if case .event(.text(let piece)) = item { text += piece }
        }
    }

    /// Sends a prompt to a chat, and returns its turn once its stream has a text.
    private func begin(
        _ prompt: String,
        in chat: String,
        of device: TestDevice,
        until text: String
    ) async throws -> String {
        let sent = try await device.execute(
            .chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil)
        )
        let turn = try #require(sent.result["turnId"]?.string)
        var seen = ""
        for try await bytes in try await device.open("/companion/chats/\(chat)/turns/\(turn)/events") {
            seen += String(buffer: bytes)
            if seen.contains(text) { return turn }
        }
        throw TestFailure("the turn has ended: \(seen)")
    }

    private func newChat(_ device: TestDevice) async throws -> String {
        let made = try await device.execute(.chatCreate(projectID: try await device.firstProject(), title: nil))
        return try #require(made.result["id"]?.string)
    }

    @Test("Each chat has the agent that its first prompt chose, and stays with it")
    func chosen() async throws {
        try await withTemporaryDirectory { directory in
            let agents = [try launch("one", in: directory), try launch("two", in: directory), .builtin]
            try await withHostAndDevice(in: directory) {
                $0.agents = agents
            } _: { host, device in
                try await device.pair()
                let models = try await device.get("/models").decoded(CompanionModelsResponse.self).models.elements
                #expect(models.map(\.id) == ["one", "two", BuiltinAgent.modelID])
                let chats = [try await newChat(device), try await newChat(device)]
                #expect(try await say("say a", to: chats[0], of: device, model: nil) == "a")
                #expect(try await say("say b", to: chats[1], of: device, model: "two") == "b")
                // Without a model, the chat's own agent goes on: it has what was said before.
                #expect(try await say("recall", to: chats[1], of: device, model: nil) == "say b")
                #expect(try await say("recall", to: chats[0], of: device, model: "one") == "say a")
                let wrong = try await device.command(
                    .chatSend(chatID: chats[1], prompt: "x", model: "one", allowedTools: nil),
                    now: Date()
                )
                #expect(
                    wrong.status == 400 && wrong.body.contains("This chat goes on with TWO: begin a new one for ONE")
                )
                let project = try await device.firstProject()
                let listed = try await device.get("/companion/projects/\(project)/chats")
                    .decoded(CompanionChatsResponse.self).chats.elements
                #expect(
                    Dictionary(uniqueKeysWithValues: listed.map { ($0.id, $0.model) }) == [
                        chats[0]: "one", chats[1]: "two",
                    ]
                )
                let states = await host.server.administration.status().agents
                #expect(states.map(\.id) == ["one", "two", BuiltinAgent.modelID])
                #expect(states.allSatisfy { $0.isAvailable && $0.trouble == nil })
                _ = try await say("die", to: chats[1], of: device, model: nil)
                let after = await host.server.administration.status().agents
                #expect(after.map { $0.trouble != nil } == [false, true, false])
            }
        }
    }

    @Test("Two agents with the same name are refused before the host begins")
    func twice() async throws {
        try await withTemporaryDirectory { directory in
            let agents = [try launch("one", in: directory), try launch("one", in: directory)]
            await #expect(throws: CompanionHostError.self) {
                try await withHostAndDevice(in: directory) {
                    $0.agents = agents
                } _: { _, _ in
                }
            }
        }
    }

    @Test(
        "While one chat waits for a person, others of its project begin and go on, whatever the agent can do meanwhile",
        arguments: [["blocks"], ["blocks", "load"], ["blocks", "resume"]]
    )
    func blocked(options: [String]) async throws {
        try await withFakeAgent(options) { host, device in
            let (waiting, early, late) = (
                try await newChat(device), try await newChat(device), try await newChat(device)
            )
            #expect(try await say("say hello", to: early, of: device, model: nil) == "hello")
            _ = try await device.execute(
                .chatSend(chatID: waiting, prompt: "ask", model: nil, allowedTools: nil)
            )
            let question = try await host.event { event in
                if case .questionAsked(let question) = event { question } else { nil }
            }
            // One that has no session yet.
            #expect(try await say("say new", to: late, of: device, model: nil) == "new")
            #expect(try await say("recall", to: late, of: device, model: nil) == "say new")
            // One whose session is in the process that waits: it moves, if the agent lets it.
            if options.count > 1 {
                #expect(try await say("recall", to: early, of: device, model: nil).hasSuffix("say hello"))
            }
            _ = try await device.execute(.approvalDecide(approvalID: question.id, optionID: "y", content: nil))
            let reply = try await device.events(chat: waiting, turn: question.turnId)
            #expect(reply.body.contains("chosen: y"))
            #expect(try await say("recall", to: early, of: device, model: nil).hasPrefix("say hello"))
        }
    }

    @Test("A question that comes while another chat's session is being begun does not hold it up")
    func blockedMeanwhile() async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory) + ["blocks", "at-second"]
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
            } _: { host, device in
                try await device.pair()
                let chats = [try await newChat(device), try await newChat(device)]
                // It asks once the agent was told to begin the second session, which it does not do then.
                let turn = try await begin("ask-at-second", in: chats[0], of: device, until: "ready")
                #expect(try await say("say b", to: chats[1], of: device, model: nil) == "b")
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                _ = try await device.execute(.approvalDecide(approvalID: question.id, optionID: "n", content: nil))
                #expect(try await device.events(chat: chats[0], turn: turn).body.contains("chosen: n"))
            }
        }
    }

    @Test("A prompt that an agent keeps behind a question of another chat waits for it, is told so, and is not silent")
    func behindQuestion() async throws {
        try await withTemporaryDirectory { directory in
            // Its sessions cannot move to another process.
            let command = try FakeACPAgent.command(in: directory) + ["blocks"]
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
                $0.turnTimeout = .seconds(3)
            } _: { host, device in
                try await device.pair()
                let chats = [try await newChat(device), try await newChat(device), try await newChat(device)]
                _ = try await say("say hello", to: chats[1], of: device, model: nil)
                async let first = say("ask", to: chats[0], of: device, model: nil)
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                let status = "Fake waits for an answer in another chat"
                let turn = try await begin("recall", in: chats[1], of: device, until: status)
                // One that is silent ends meanwhile.
                _ = try await say("deaf", to: chats[2], of: device, model: nil)
                _ = try await device.execute(.approvalDecide(approvalID: question.id, optionID: "y", content: nil))
                #expect(try await first == "chosen: y")
                #expect(try await device.events(chat: chats[1], turn: turn).body.contains("say hello"))
            }
        }
    }

    @Test("Each project has a process of its own")
    func projects() async throws {
        try await withTemporaryDirectory { directory in
            let more = directory + "/more"
            try FileManager.default.createDirectory(atPath: more, withIntermediateDirectories: true)
            let command = try FakeACPAgent.command(in: directory)
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
                $0.projects.append(more)
            } _: { host, device in
                try await device.pair()
                let projects = try await device.get("/companion/projects").decoded(CompanionProjectsResponse.self)
                var processes: Set<String> = []
                for project in projects.projects.elements + projects.projects.elements {
                    let made = try await device.execute(.chatCreate(projectID: project.id, title: nil))
                    let chat = try #require(made.result["id"]?.string)
                    processes.insert(try await say("shell echo $PPID", to: chat, of: device, model: nil))
                    #expect(try await say("cwd", to: chat, of: device, model: nil) == project.localPath)
                }
                #expect(processes.count == 2)
            }
        }
    }

    @Test("Processes that nobody uses end when there are many, the longest unused first, and their chats go on")
    func many() async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory) + ["resume"]
            let folders = (0..<10).map { "\(directory)/more\($0)" }
            for folder in folders {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
                $0.projects = folders
            } _: { host, device in
                try await device.pair()
                let projects = try await device.get("/companion/projects").decoded(CompanionProjectsResponse.self)
                var seen: [(chat: String, process: Int32)] = []
                for project in projects.projects.elements {
                    let made = try await device.execute(.chatCreate(projectID: project.id, title: nil))
                    let chat = try #require(made.result["id"]?.string)
                    let said = try await say("shell echo $PPID", to: chat, of: device, model: nil)
                    seen.append((chat, try #require(Int32(said.dropLast()))))
                }
                try await eventually {
                    seen.map { isAlive($0.process) } == [false, false] + Array(repeating: true, count: 8)
                }
                #expect(try await say("recall", to: seen[0].chat, of: device, model: nil).hasPrefix("shell echo"))
            }
        }
    }

    @Test("A copy of the registry says what would be run here")
    func registry() throws {
        let json = #"""
            {"version":"1.0.0","extensions":[],"agents":[
              {"id":"node","name":"Node","version":"1","distribution":{"npx":{"package":"@a/b@1","args":["--acp"],"env":{"A":"x y"}}}},
              {"id":"snake","name":"Snake","version":"2","distribution":{"uvx":{"package":"snake","args":["acp"]}}},
              {"id":"built","name":"Built","version":"3","distribution":{"binary":{"linux-x86_64":{"archive":"https://a/b.tgz","cmd":"./dist/built","args":["serve"]}}}},
              {"id":"mac","name":"Mac","version":"3","distribution":{"binary":{"darwin-aarch64":{"archive":"https://a/m","cmd":"./m"}}}},
              {"id":"trick","name":"T","version":"1","distribution":{"npx":{"package":"--call=evil"}}},
              {"id":"../x","name":"T","version":"1","distribution":{"npx":{"package":"x"}}},
              {"id":"bad","name":"T","version":"1","distribution":{"npx":{"package":"x","env":{"A B":"1"}}}}]}
            """#
        let registry = try AgentRegistry(Array(json.utf8), platform: "linux-x86_64")
        #expect(registry.entries.map(\.id) == ["built", "node", "snake"])
        #expect(
            registry.entries.map(\.commandLine) == ["built serve", "A='x y' npx --yes @a/b@1 --acp", "uvx snake acp"]
        )
        #expect(registry.entry("built")?.archive == "https://a/b.tgz" && registry.entry("node")?.archive == nil)
        #expect(throws: AgentRegistry.Failure.self) { try AgentRegistry(Array("<html>".utf8)) }
        #expect(throws: AgentRegistry.Failure.self) { try AgentRegistry(Array("{}".utf8)) }
    }
}
