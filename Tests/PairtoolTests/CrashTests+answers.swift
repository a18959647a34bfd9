import CompanionClient
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

extension CrashTests {
    /// Characters of the answer after which the host is killed: in its first line, between lines, and in a flood.
    private static let moments = [1, 30, 1000, 20_000, 200_000]

    /// What the agent says, line by line, as fast as a shell can.
    private static func line(_ number: Int) -> String { "line \(number) of the answer, which is a long one\n" }

    /// Reads a turn until its connection breaks.
    private func received(
        _ client: CompanionAPIClient,
        _ chat: String,
        _ turn: String,
        kill: @Sendable () throws -> Void,
        after size: Int
    ) async throws -> String {
        var text = ""
        var isKilled = false
        do {
            reading: for try await output in try FollowedTurn(client: client, chatID: chat, turnID: turn) {
                switch output {
                case .text(let piece): text += piece
                case .recovering: break reading
                default: break
                }
                guard !isKilled, text.utf8.count >= size else { continue }
                isKilled = true
                try kill()
            }
        } catch is CompanionClientError {}
        return text
    }

    @Test("Killed in the middle of an answer, the host has all that was shown of it, and says that it was interrupted")
    func partOfAnswer() async throws {
        try await withProject { host, user in
            // Agents of a killed host end at the pipe that nobody reads, or wait there until it is opened, at the end.
            let gate = try await host.pipe("gate")
            let script = host.directory + "/agent.sh"
            let count = 20_000
            let loop = """
                i=0
                while [ $i -lt \(count) ]; do i=$((i + 1)); echo "line $i of the answer, which is a long one"; done
                cat '\(gate)'
                """
            try Data(loop.utf8).write(to: URL(filePath: script))
            let whole = (1...count).map(Self.line).joined()
            let agent = ["--agent-command", "/bin/sh \(script)"]
            let paired = try await withDoomedHost(host, agent) { events, _ in try await pair(user, events) }
            #expect(paired.status == 0, "\(paired)")
            for moment in Self.moments {
                let (chat, turn, text) = try await withDoomedHost(host, agent) { events, kill in
                    try await withClient(user, events) { client in
                        let project = try #require(try await client.projects().first)
                        let chat = try await client.createChat(projectID: project.id, title: "at \(moment)").id
                        let request = ContinueChatRequest(prompt: "go", projectPath: nil, model: nil, allowedTools: nil)
                        let turn = try await client.startTurn(chatID: chat, request: request)
                        let text = try await received(client, chat, turn, kill: kill, after: moment)
                        return (chat, turn, text)
                    }
                }
                #expect(text.utf8.count >= moment)
                try await withDoomedHost(host, agent) { events, _ in
                    try await withClient(user, events) { client in
                        let messages = try await client.lastMessages(chatID: chat, count: 10)
                        #expect(messages.map(\.role) == [.user, .assistant], "at \(moment)")
                        let kept = try #require(messages.last)
                        #expect(kept.text.hasPrefix(text), "\(text.utf8.count) shown, \(kept.text.utf8.count) kept")
                        #expect(whole.hasPrefix(kept.text), "nothing else is in it")
                        #expect(kept.interrupted == true && messages.first?.interrupted == nil)
                        // The stream, taken up from its beginning, tells the same, and why it ends.
                        var again = ""
                        let error = await #expect(throws: CompanionClientError.self) {
                            for try await output in try FollowedTurn(client: client, chatID: chat, turnID: turn) {
                                if case .text(let piece) = output { again += piece }
                            }
                        }
                        #expect(again == kept.text && error?.hostText?.contains("interrupted") == true)
                    }
                }
            }
            let opened = try await host.shell("exec 3<>'\(gate)'")
            #expect(opened.status == 0)
        }
    }

    @Test("An agent and what it started end with a host that is killed", .timeLimit(.minutes(15)))
    func agentOfKilledHost() async throws {
        try await withProject { host, user in
            let gate = try await host.pipe("gate")
            let script = """
                exec 3>'\(gate)'
                setsid -f sh -c 'echo child >&3; : >\(gate).up; exec sleep 1000'
                echo agent >&3
                while ! [ -e '\(gate).up' ]; do sleep 0.02; done
                echo up
                exec sleep 1000
                """
            let agent = try host.file("agent.sh", Array(script.utf8))
            try await withDoomedHost(host, ["--agent-command", "/bin/sh \(agent)"]) { events, kill in
                // It ends when nothing has the pipe open any more.
                async let users = host.shell("cat '\(gate)'")
                #expect(try await pair(user, events).status == 0)
                try await withClient(user, events) { client in
                    let project = try #require(try await client.projects().first)
                    let chat = try await client.createChat(projectID: project.id, title: "run").id
                    let request = ContinueChatRequest(prompt: "go", projectPath: nil, model: nil, allowedTools: nil)
                    let turn = try await client.startTurn(chatID: chat, request: request)
                    #expect(try await received(client, chat, turn, kill: kill, after: 2).contains("up"))
                }
                #expect(Set(try await users.out.split(separator: "\n")) == ["agent", "child"])
            }
        }
    }

    @Test("A cancelled agent that takes its time ends with a host that is killed meanwhile", .timeLimit(.minutes(15)))
    func cancelledAgentOfKilledHost() async throws {
        try await withProject { host, user in
            let gate = try await host.pipe("gate")
            let script = """
                trap ': >\(gate).told' TERM
                exec 2>/dev/null
                exec 3>'\(gate)'
                echo agent >&3
                echo up
                while :; do sleep 0.02; done
                """
            let agent = try host.file("agent.sh", Array(script.utf8))
            try await withDoomedHost(host, ["--agent-command", "/bin/sh \(agent)"]) { events, kill in
                // It ends when nothing has the pipe open any more.
                async let users = host.shell("cat '\(gate)'")
                #expect(try await pair(user, events).status == 0)
                try await withClient(user, events) { client in
                    let project = try #require(try await client.projects().first)
                    let chat = try await client.createChat(projectID: project.id, title: "run").id
                    let request = ContinueChatRequest(prompt: "go", projectPath: nil, model: nil, allowedTools: nil)
                    let turn = try await client.startTurn(chatID: chat, request: request)
                    for try await output in try FollowedTurn(client: client, chatID: chat, turnID: turn) {
                        if case .text = output { break }
                    }
                    async let cancelled = client.cancelTurn(chatID: chat, turnID: turn)
                    let told = try await host.shell("while ! [ -e '\(gate).told' ]; do sleep 0.01; done")
                    #expect(told.status == 0)
                    try kill()
                    _ = try? await cancelled
                }
                #expect(try await users.out == "agent\n")
            }
        }
    }
}
