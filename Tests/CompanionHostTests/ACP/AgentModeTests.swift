import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// How freely an agent works in a chat, as its host keeps it and devices get it.
@Suite("The mode of a chat's agent", .timeLimit(.minutes(15)))
struct AgentModeTests {
    private static let free = "YOLO (asks nothing)"

    private func withAgent<R: Sendable>(
        _ options: String...,
        in directory: String,
        _ body: (TestHost, TestDevice) async throws -> R
    ) async throws -> R {
        let command = try FakeACPAgent.command(in: directory) + options
        let launch = ACPLaunch(id: "fake", name: "Fake", command: command, allowsBypass: true)
        return try await with(.acp(launch), in: directory, body)
    }

    private func with<R: Sendable>(
        _ agent: HostAgentKind,
        in directory: String,
        _ body: (TestHost, TestDevice) async throws -> R
    ) async throws -> R {
        try await withHostAndDevice(in: directory) {
            $0.agent = agent
            $0.turnTimeout = .seconds(60)
        } _: { host, device in
            try await device.pair()
            return try await body(host, device)
        }
    }

    private func listed(_ device: TestDevice) async throws -> Reply {
        try await device.get("/companion/projects/\(try await device.firstProject())/chats")
    }

    private func mode(_ device: TestDevice, _ chat: String) async throws -> String? {
        let chats = try await listed(device).decoded(CompanionChatsResponse.self).chats.elements
        return try #require(chats.first { $0.id == chat }).mode?.name
    }

    private func send(
        _ prompt: String,
        _ chat: String,
        _ device: TestDevice,
        model: String = "fake"
    ) async throws -> String {
        let sent = try await device.execute(
            .chatSend(chatID: chat, prompt: prompt, model: model, allowedTools: nil)
        )
        return try #require(sent.result["turnId"]?.string)
    }

    private func waitForEnd(_ host: TestHost) async throws {
        _ = try await host.event { if case .turnFinished = $0 { true } else { nil } }
    }

    @Test("It is kept from the start of a session, replaced when it changes, and forgotten with the session")
    func kept() async throws {
        try await withTemporaryDirectory { directory in
            let chat = try await withAgent("modes", "resume", in: directory) { host, device in
                let (chat, _) = try await device.startTurn("say hi", model: "fake")
                try await waitForEnd(host)
                let first = try await mode(device, chat)
                #expect(first == "Ask first")
                let turn = try await send("go-yolo", chat, device)
                let changed = try await host.event { event in
                    if case .modeChanged(chat, _, let mode) = event { mode.name } else { nil }
                }
                #expect(changed == Self.free)
                let listed = try await mode(device, chat)
                #expect(listed == Self.free, "who hears of a mode finds it stored")
                _ = try await device.execute(.chatCancel(chatID: chat, turnID: turn))
                try await waitForEnd(host)
                let second = try await mode(device, chat)
                #expect(second == Self.free)
                return chat
            }
            try await withAgent("modes", "resume", in: directory) { host, device in
                let reply = try await listed(device)
                #expect(reply.body.contains(#""mode":"YOLO (asks nothing)""#))
                try await LiveClient.with(host, token: device.token) { client in
                    _ = try await client.event(.hello)
                    _ = try await send("say hi", chat, device)
                    let started = try await client.event(.turnStarted)
                    #expect(started.mode?.name == Self.free, "what is known before the agent has said anything")
                    let changed = try await client.event(.chatChanged)
                    #expect(changed.mode?.name == "Ask first" && changed.chatId == chat)
                    _ = try await client.event(.turnFinished)
                }
                let now = try await mode(device, chat)
                #expect(now == "Ask first")
            }
            // Its session is lost, and the new one has no modes.
            try await withAgent(in: directory) { host, device in
                _ = try await send("say hi", chat, device)
                try await waitForEnd(host)
                let reply = try await listed(device)
                #expect(!reply.body.contains(#""mode""#), "\(reply.body)")
            }
        }
    }

    /// Runs a turn with an agent that names its mode.
    ///
    /// - Returns: The chat.
    private func chatWithMode(in directory: String) async throws -> String {
        try await withAgent("modes", "resume", in: directory) { host, device in
            let (chat, _) = try await device.startTurn("say hi", model: "fake")
            try await waitForEnd(host)
            let named = try await mode(device, chat)
            #expect(named == "Ask first")
            return chat
        }
    }

    @Test("After a restart with another agent, what the earlier one named is shown nowhere", arguments: [false, true])
    func replaced(isBuiltin: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let chat = try await chatWithMode(in: directory)
            let command = try FakeACPAgent.command(in: directory)
            let other = HostAgentKind.acp(ACPLaunch(id: "other", name: "Other", command: command))
            try await with(isBuiltin ? .builtin : other, in: directory) { host, device in
                let reply = try await listed(device)
                #expect(reply.body.contains(chat) && !reply.body.contains(#""mode""#), "\(reply.body)")
                try await LiveClient.with(host, token: device.token) { client in
                    _ = try await client.event(.hello)
                    _ = try await send("say hi", chat, device, model: isBuiltin ? BuiltinAgent.modelID : "other")
                    let started = try await client.event(.turnStarted)
                    #expect(started.chatId == chat && started.mode == nil)
                    _ = try await client.event(.turnFinished)
                }
            }
        }
    }

    @Test("A session that is resumed without modes has none any more")
    func resumed() async throws {
        try await withTemporaryDirectory { directory in
            let chat = try await chatWithMode(in: directory)
            try await withAgent("resume", in: directory) { host, device in
                let before = try await mode(device, chat)
                #expect(before == "Ask first")
                let turn = try await send("recall", chat, device)
                try await waitForEnd(host)
                let events = try await device.events(chat: chat, turn: turn)
                #expect(events.body.contains("say hi"), "It is the session of before: \(events.body)")
                let after = try await mode(device, chat)
                #expect(after == nil)
            }
        }
    }

    @Test("It is forgotten with the session that the owner removes")
    func removed() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent("modes", in: directory) { host, device in
                let (chat, _) = try await device.startTurn("say hi", model: "fake")
                try await waitForEnd(host)
                let before = try await mode(device, chat)
                #expect(before == "Ask first")
                let database = host.server.administration.audit.database
                try await GitSessionTable(database: database).forget(chat: chat)
                let after = try await mode(device, chat)
                #expect(after == nil)
            }
        }
    }

    @Test("A question has the mode in which it was asked: in lists, in frames, live, and for the owner")
    func question() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent("modes", in: directory) { host, device in
                try await LiveClient.with(host, token: device.token) { client in
                    _ = try await client.event(.hello)
                    let (chat, turn) = try await device.startTurn("ask", model: "fake")
                    let asked = try await client.event(.approvalAsked)
                    #expect(asked.mode?.name == "Ask first")
                    let id = try #require(asked.approvalId)
                    let list = try await device.get("/companion/approvals").decoded(ApprovalsListResponse.self)
                    #expect(list.approvals.elements.map(\.mode?.name) == ["Ask first"])
                    let owner = await host.server.administration.answer(AdminRequest(.questions))
                    #expect(owner.questions?.first?.mode?.name == "Ask first")
                    _ = try await device.execute(.approvalDecide(approvalID: id, optionID: "y", content: nil))
                    let decided = try await client.event(.approvalDecided)
                    #expect(decided.mode == nil)
                    _ = try await client.event(.turnFinished)
                    let events = try await device.events(chat: chat, turn: turn)
                    let line = events.body.split(separator: "\n").first { $0.contains("approval_asked") }
                    #expect(line?.contains(#""mode":"Ask first""#) == true, "\(events.body)")
                }
            }
        }
    }

    @Test("Clients of version 1 get lists as before, and an agent without modes has none")
    func absent() async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory, "modes")
            try await withHost(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
            } _: { (host: TestHost) async throws in
                try await host.pair()
                let answer = try await host.ask("say hi", model: "fake").answer
                #expect(answer == "hi")
                let projects = try await host.get("/companion/projects").decoded(CompanionProjectsResponse.self)
                let project = try #require(projects.projects.elements.first)
                let reply = try await host.get("/companion/projects/\(project.id)/chats")
                #expect(reply.body.contains("chat-1") && !reply.body.contains(#""mode""#), "\(reply.body)")
            }
        }
    }
}
