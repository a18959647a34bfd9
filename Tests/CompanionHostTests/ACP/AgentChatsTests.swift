import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import LocalState
import Logging
import Testing

@testable import CompanionHost

/// Sessions that began in an agent's own terminal, as chats.
@Suite("Sessions that began elsewhere", .timeLimit(.minutes(15)))
struct AgentChatsTests {
    private typealias Session = SessionAgent.Session

    private func listed(_ device: TestDevice) async throws -> [CompanionChat] {
        try await device.get("/companion/projects/\(try await device.firstProject())/chats")
            .decoded(CompanionChatsResponse.self).chats.elements
    }

    private func messages(_ chat: String, _ device: TestDevice) async throws -> [String] {
        let reply = try await device.get("/companion/chats/\(chat)/messages")
        guard reply.status == 200 else { throw TestFailure("\(reply.status): \(reply.body)") }
        return try reply.decoded(CompanionMessagesPageResponse.self).messages.elements
            .map { "\($0.role == .user ? ">" : "<") \($0.text)" }
    }

    private func say(_ prompt: String, to chat: String, _ device: TestDevice) async throws -> String {
        let sent = try await device.execute(.chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil))
        let reply = try await device.events(chat: chat, turn: try #require(sent.result["turnId"]?.string))
        var decoder = ContinueChatStreamDecoder(isNumbered: true)
        return try decoder.feed(reply.body.utf8).reduce(into: "") { text, item in
            switch item {
            case .event(.text(let piece)): text += piece
            case .event(.failed(let failure)): text += failure.text
            default: break
            }
        }
    }

    private func withAgent(
        _ options: [String] = ["load"],
        configure: @escaping @Sendable (inout CompanionHostConfiguration, inout ACPLaunch) -> Void = { _, _ in },
        _ body: @escaping (SessionAgent, _ project: String, TestHost, TestDevice) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let place = directory + "/agent"
            let project = directory + "/garden"
            for folder in [place, project + "/beds"] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let root = try #require(RealPath.of(project))
            let agent = try SessionAgent(in: place, options)
            try await withHostAndDevice(in: directory) {
                var launch = ACPLaunch(id: "fake", name: "Fake", command: agent.command)
                $0.projects = [root]
                configure(&$0, &launch)
                $0.agents = [.acp(launch)]
            } _: { host, device in
                try await device.pair()
                try await body(agent, root, host, device)
            }
        }
    }

    private static let commit = "git -c user.name=Ada -c user.email=ada@example.org commit -qm one"
    private static let talk = [["user", "plant beans"], ["assistant", "Planted."]]

    @Test("They are listed with the chats, opened with what was said, and go on as one chat, also in the agent's list")
    func adopted() async throws {
        try await withAgent { agent, project, _, device in
            try agent.write(
                Session(cwd: project, title: "Beans", updatedAt: "2026-01-02T00:00:00Z", messages: Self.talk),
                as: "beans"
            )
            try agent.write(
                Session(cwd: project + "/beds", updatedAt: "2026-01-03T00:00:00.123456+00:00", open: true),
                as: "beds"
            )
            try agent.write(Session(cwd: "/", title: "Not here", updatedAt: "2026-01-04T00:00:00Z"), as: "away")
            // On a busy machine an agent starts in more time than a list waits.
            try await eventually { try await self.listed(device).count == 2 }
            let chats = try await listed(device)
            #expect(chats.map(\.title) == ["Untitled session", "Beans"])
            #expect(chats.map(\.origin) == [.agent, .agent])
            #expect(chats.map(\.model) == ["fake", "fake"])
            #expect(chats.map(\.isOpenElsewhere) == [true, nil])
            #expect(
                chats.map { $0.lastUpdatedAt.map(CompanionTimestamp.string) } == [
                    "2026-01-03T00:00:00.123Z", "2026-01-02T00:00:00.000Z",
                ]
            )
            let beans = chats[1].id
            #expect(try await messages(beans, device) == ["> plant beans", "< Planted."])
            #expect(try await say("and peas", to: beans, device) == "2 before, the last: Planted.")
            #expect(
                try await messages(beans, device) == [
                    "> plant beans", "< Planted.", "> and peas", "< 2 before, the last: Planted.",
                ]
            )
            // What was said here is in the agent's own session, and there is one of each.
            #expect(try agent.session("beans").messages.map { $0[1] }.suffix(2).first == "and peas")
            #expect(try agent.ids() == ["away", "beans", "beds"])
            let after = try await listed(device)
            #expect(after.map(\.title) == ["Beans", "Untitled session"])
            #expect(after.map(\.id) == [beans, chats[0].id])
            #expect(after.map(\.origin) == [nil, .agent])
            // One that is only sent to works where it began.
            #expect(try await say("dig", to: chats[0].id, device) == "0 before, the last: none")
            #expect(try agent.session("beds").messages.count == 2)
        }
    }

    @Test(
        "What goes on in the agent's terminal is in the chat, whether it began there or here",
        arguments: [true, false]
    )
    func goesOnThere(beganThere: Bool) async throws {
        try await withAgent { agent, project, _, device in
            if beganThere {
                try agent.write(Session(cwd: project, title: "Beans", updatedAt: "2026-01-02T00:00:00Z"), as: "beans")
            } else {
                let made = try await device.execute(
                    .chatCreate(projectID: try await device.firstProject(), title: "Beans")
                )
                #expect(
                    try await say("go on", to: try #require(made.result["id"]?.string), device).hasPrefix("0 before")
                )
            }
            try await eventually { try await !self.listed(device).isEmpty }
            let chat = try #require(try await listed(device).first).id
            _ = try await say("go on", to: chat, device)
            let before = try await messages(chat, device)
            let id = try #require(try agent.ids().first)
            var session = try agent.session(id)
            session.messages += [
                ["user", "water"], ["assistant", "Wet."], ["user", "go on"], ["assistant", "Dry."],
            ]
            session.updatedAt = CompanionTimestamp.string(from: Date().addingTimeInterval(60))
            try agent.write(session, as: id)
            // The host's list may be two seconds old.
            let told = ["> water", "< Wet.", "> go on", "< Dry."]
            try await eventually { try await self.messages(chat, device) == before + told }
            #expect(try await say("well?", to: chat, device) == "\(session.messages.count) before, the last: Dry.")
            let said = try await messages(chat, device)
            #expect(said.count == before.count + 6, "nothing twice: \(said)")
            #expect(try await listed(device).count == 1)
        }
    }

    @Test("A session that its agent does not open is no chat, and the agent's reason is told")
    func locked() async throws {
        try await withAgent(["load", "locks"]) { agent, project, _, device in
            try agent.write(
                Session(
                    cwd: project,
                    title: "Beans",
                    updatedAt: "2026-01-02T00:00:00Z",
                    messages: Self.talk,
                    open: true
                ),
                as: "beans"
            )
            try await eventually { try await !self.listed(device).isEmpty }
            let chat = try #require(try await listed(device).first)
            let refused = try await device.get("/companion/chats/\(chat.id)/messages")
            #expect(refused.status == 503 && refused.body.contains("it is open in another terminal"))
            let sent = try await device.command(
                .chatSend(chatID: chat.id, prompt: "x", model: nil, allowedTools: nil)
            )
            #expect(sent.status == 503 && sent.body.contains("it is open in another terminal"))
            var session = try agent.session("beans")
            session.open = false
            try agent.write(session, as: "beans")
            #expect(try await messages(chat.id, device) == ["> plant beans", "< Planted."])
            // What is known is shown while it is open there, and a prompt does not begin another session.
            session.open = true
            session.messages += [["user", "water"]]
            session.updatedAt = CompanionTimestamp.string(from: Date().addingTimeInterval(60))
            try agent.write(session, as: "beans")
            #expect(try await messages(chat.id, device) == ["> plant beans", "< Planted."])
        }
    }

    @Test("An agent that resumes and does not load goes on without what was said before")
    func resumed() async throws {
        try await withAgent(["resume"]) { agent, project, _, device in
            try agent.write(Session(cwd: project, updatedAt: "2026-01-02T00:00:00Z", messages: Self.talk), as: "beans")
            try await eventually { try await !self.listed(device).isEmpty }
            let chat = try #require(try await listed(device).first).id
            #expect(try await messages(chat, device) == [])
            #expect(try await say("and peas", to: chat, device) == "2 before, the last: Planted.")
            #expect(try await messages(chat, device) == ["> and peas", "< 2 before, the last: Planted."])
        }
    }

    @Test(
        "Agents that list nothing, and hosts that do not want it, have their own chats alone",
        arguments: [true, false]
    )
    func none(isWanted: Bool) async throws {
        try await withAgent(isWanted ? ["load", "no-list"] : ["load"]) { _, launch in
            launch.listsSessions = isWanted
        } _: { agent, project, _, device in
            try agent.write(Session(cwd: project, messages: Self.talk), as: "beans")
            #expect(try await listed(device).isEmpty)
            let unknown = SessionKey(agent: "fake", session: "beans").chatID
            #expect(try await messages(unknown, device) == [])
        }
    }

    @Test("A list of 1,000 sessions is read to its end, and has each once")
    func many() async throws {
        try await withAgent { agent, project, _, device in
            for number in 0..<1000 {
                let time = CompanionTimestamp.string(from: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)))
                try agent.write(
                    Session(cwd: project, title: "Session \(number)", updatedAt: time, messages: Self.talk),
                    as: "s-\(number)"
                )
            }
            try await eventually { try await self.listed(device).count == 1000 }
            var chats = try await listed(device)
            #expect(chats.first?.title == "Session 999" && chats.last?.title == "Session 0")
            chats = try await listed(device)
            #expect(Set(chats.map(\.id)).count == 1000)
        }
    }

    @Test("In a host that makes working trees, a session goes on where it began")
    func worktree() async throws {
        try await withAgent { configuration, _ in
            configuration.usesWorktrees = true
        } _: { agent, project, _, device in
            try await shell("cd '\(project)' && git init -q -b main . && echo one >a && git add a && \(Self.commit)")
            try agent.write(Session(cwd: project, updatedAt: "2026-01-02T00:00:00Z", messages: Self.talk), as: "beans")
            try await eventually { try await !self.listed(device).isEmpty }
            let chat = try #require(try await listed(device).first).id
            #expect(try await say("and peas", to: chat, device) == "2 before, the last: Planted.")
            #expect(try agent.ids() == ["beans"])
        }
    }

    @Test("While an agent does not answer, a host's own chats are listed, and its sessions once it does")
    func slow() async throws {
        try await withAgent(["load", "slow"]) { agent, project, _, device in
            try agent.write(Session(cwd: project, title: "Beans"), as: "beans")
            _ = try await device.execute(.chatCreate(projectID: try await device.firstProject(), title: "Own"))
            #expect(try await listed(device).map(\.title) == ["Own"])
            try agent.go()
            try await eventually { try await self.listed(device).map(\.title) == ["Own", "Beans"] }
        }
    }

    @Test("What a chat lacks of its session is found behind its last prompt that the session has")
    func missing() {
        func told(_ prompts: String...) -> [ToldMessage] {
            prompts.flatMap { [ToldMessage(.user, $0), ToldMessage(.assistant, "re \($0)")] }
        }
        func missing(_ session: [ToldMessage], _ prompts: String...) -> [String] {
            ToldMessages.missing(of: session, after: prompts).map(\.text)
        }
        #expect(missing(told("a", "b")) == ["a", "re a", "b", "re b"], "a chat without prompts")
        #expect(missing(told("a", "b"), "a", "b") == [])
        #expect(missing(told("a", "b"), " a\n") == ["b", "re b"])
        #expect(missing(told("a", "b"), "a", "never sent") == ["b", "re b"], "one that did not reach the agent")
        #expect(missing(told("b", "c"), "a", "b") == ["c", "re c"], "an agent that has forgotten the beginning")
        #expect(missing(told("x", "y"), "a") == [], "an agent that tells it in other words")
        let often = told("a", "go on", "b", "go on")
        #expect(missing(often, "a", "go on") == ["b", "re b", "go on", "re go on"])
        #expect(missing(often, "a", "go on", "b", "go on") == [])
    }

    @Test("A replay becomes the messages that were said, whatever its pieces")
    func replay() throws {
        func update(_ json: String) throws -> ACPUpdate {
            ACPUpdate(try #require(JSONValue(lenient: Array(json.utf8))))
        }
        func chunk(_ kind: String, _ text: String) throws -> ACPUpdate {
            try update(#"{"sessionUpdate":"\#(kind)_chunk","content":{"type":"text","text":"\#(text)"}}"#)
        }
        let replay = ACPReplay()
        replay.take(try chunk("agent_message", "Welcome"), id: nil)
        replay.take(try chunk("user_message", "look "), id: "1")
        replay.take(try chunk("user_message", "here"), id: "1")
        replay.take(
            try update(
                #"{"sessionUpdate":"user_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AA=="}}"#
            ),
            id: "1"
        )
        replay.take(try chunk("user_message", "no, there"), id: "2")
        replay.take(try chunk("agent_thought", "hm"), id: nil)
        replay.take(try chunk("agent_message", "I see"), id: nil)
        replay.take(try update(#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"Read"}"#), id: nil)
        replay.take(try chunk("agent_message", "It is "), id: nil)
        replay.take(try chunk("agent_message", "empty."), id: nil)
        #expect(
            replay.messages == [
                ToldMessage(.assistant, "Welcome"), ToldMessage(.user, "look here"), ToldMessage(.user, "no, there"),
                ToldMessage(.assistant, "I see\n\nIt is empty."),
            ]
        )
        let long = ACPReplay()
        for _ in 0..<(ACPReplay.size / ACPReplay.messageSize + 9) {
            long.take(try chunk("user_message", String(repeating: "x", count: 100)), id: nil)
            for _ in 0..<20 {
                long.take(.agentMessage(.text(String(repeating: "y", count: 100 << 10))), id: nil)
            }
        }
        let kept = long.messages
        #expect(kept.allSatisfy { $0.text.utf8.count < ACPReplay.messageSize + 2000 })
        #expect(kept.reduce(0) { $0 + $1.text.utf8.count } < ACPReplay.size + 2 * ACPReplay.messageSize)
        #expect(kept.last?.role == .assistant)
    }
}
