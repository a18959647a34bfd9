import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import pairtool

/// Options of `pairtool host` for agents of the Agent Client Protocol, with the built binary on both sides.
@Suite(.serialized, .timeLimit(.minutes(15))) struct AgentOptionsTests {
    /// The arguments for a host with a fake agent of these options.
    private static func arguments(_ agent: [String], in owner: Sandbox) throws -> [String] {
        let command = (try FakeACPAgent.command(in: owner.directory) + agent).joined(separator: " ")
        return ["--project", owner.directory + "/garden", "--agent-command", command, "--acp"]
    }

    /// Runs a host with a fake agent of these options, and a user who has paired with it.
    private func withAgent(
        _ agent: [String] = [],
        host: [String] = [],
        environment: [String: String] = [:],
        _ body: @escaping @Sendable (_ host: Sandbox, _ user: Sandbox, HostEvents) async throws -> Void
    ) async throws {
        try await withProject { owner, user in
            let arguments = try Self.arguments(agent, in: owner)
            try await withRunningHost(owner, arguments + host, environment: environment) { events in
                try await user.pair(try await events.payload.text)
                try await body(owner, user, events)
            }
        }
    }

    @Test("--agent-env gives the agent this variable, and no other")
    func variables() async throws {
        let variables = ["PLOT_KEY": "roses", "OTHER_KEY": "thorns"]
        try await withAgent(host: ["--agent-env", "PLOT_KEY"], environment: variables) { host, user, _ in
            let sent = try await user.spawn(["send", "--new", "env", "--json"])
            let answer = try #require(try sent.json.last?["answer"]?.string, "\(sent)")
            let seen = try JSONDecoder().decode([String: String].self, from: Data(answer.utf8))
            #expect(seen["PLOT_KEY"] == "roses" && seen["HOME"] == host.directory, "\(seen.keys)")
            #expect(seen["OTHER_KEY"] == nil, "\(seen.keys)")
        }
    }

    @Test("With a variable for the agent that is not set, there is no host, and it is said which it is")
    func unsetVariable() async throws {
        try await withProject { owner, _ in
            let arguments = ["host", "--json", "--port", "0", "--agent-env", "PLOT_KEY"]
            let run = try await owner.spawn(arguments + (try Self.arguments([], in: owner)))
            #expect(run.status == 2 && run.failed(with: "agent.variable_unset"), "\(run)")
            #expect(run.err.contains("PLOT_KEY is not set"), "\(run)")
        }
    }

    @Test("An agent that asks to sign in does so by the method of --agent-sign-in; without it, the user is told")
    func signIn() async throws {
        let words = ["send", "--new", "say Roses"]
        try await withAgent(["sign-in"]) { _, user, _ in
            let sent = try await user.spawn(words)
            #expect(sent.status != 0 && sent.err.contains("asks to sign in. At the host"), "\(sent)")
        }
        try await withAgent(["sign-in"], host: ["--agent-sign-in", "key"]) { _, user, _ in
            let sent = try await user.spawn(words)
            #expect(sent.status == 0 && sent.out == "Roses\n", "\(sent)")
        }
    }

    /// The modes that a turn was in.
    private static func modes(_ sent: Sandbox.Result) throws -> [String] {
        try sent.json.compactMap { $0["type"] == .text("mode") ? $0["text"]?.string : nil }
    }

    @Test("A session that begins in a mode without questions is led to another, or refused where there is none")
    func bypassing() async throws {
        try await withAgent(["yolo"]) { host, user, _ in
            let sent = try await user.spawn(["send", "--new", "say Roses", "--json"])
            #expect(sent.status == 0, "\(sent)")
            let modes = try Self.modes(sent)
            #expect(modes == ["Ask first"])
            #expect(try String(contentsOfFile: host.directory + "/mode", encoding: .utf8) == "ask")
        }
        try await withAgent(["stuck-yolo"]) { _, user, events in
            let sent = try await user.spawn(["send", "--new", "say Roses"])
            #expect(sent.status != 0 && !sent.out.contains("Roses"), "\(sent)")
            #expect(sent.err.contains("in the mode “YOLO”, in which it asks nothing. Its host does not allow that"))
            _ = try await events.first("agent") {
                $0["message"]?.string?.hasSuffix("To allow it: pairtool host --allow-bypass") == true
            }
        }
    }

    @Test("--allow-bypass leaves the session in its mode, and the owner and the user are told")
    func allowed() async throws {
        try await withProject { owner, user in
            let usual = ["host", "--json", "--show-secrets", "--port", "0", "--engine", "embedded", "--allow-bypass"]
            let arguments = usual + (try Self.arguments(["yolo"], in: owner))
            let (_, host) = try await owner.follow(arguments) { run in
                try await user.pair(try await run.events.payload.text)
                let sent = try await user.spawn(["send", "--new", "say Roses", "--json"])
                #expect(sent.status == 0, "\(sent)")
                let modes = try Self.modes(sent)
                #expect(modes == ["YOLO (asks nothing)"])
                #expect(!FileManager.default.fileExists(atPath: owner.directory + "/mode"))
                try run.interrupt()
            }
            #expect(host.status == 0, "\(host)")
            #expect(host.err.contains("The agent may work in modes in which it asks nothing (--allow-bypass)."))
        }
    }

    private static func date(_ value: ShownJSON?) throws -> Date {
        let text = try #require(value?.string)
        return try #require(CompanionTimestamp.date(from: text))
    }

    @Test(
        "A device sees until when a question can be answered: for 30 minutes, or what --question-timeout says",
        arguments: [
            ([String](), 1800.0), (["--question-timeout", "90s"], 90.0), (["--question-timeout", "2h"], 7200.0),
        ]
    )
    func questionTimeout(options: [String], seconds: Double) async throws {
        try await withAgent(host: options) { _, user, _ in
            let (_, sent) = try await user.follow(["send", "--new", "ask", "--json"]) { run in
                let asked = try await run.events.first("approval_asked")
                let listed = try await user.spawn(["approvals", "--json"])
                let row = try #require(try listed.json.first, "\(listed)")
                let begin = try Self.date(row["requestedAt"])
                // Times have milliseconds.
                for end in [try Self.date(row["expiresAt"]), try Self.date(asked["expiresAt"])] {
                    #expect(abs(end.timeIntervalSince(begin) - seconds) < 0.01, "\(row)")
                }
                let id = try #require(row["id"]?.string)
                #expect(try await user.spawn(["approvals", "approve", id]).status == 0)
            }
            #expect(sent.status == 0, "\(sent)")
        }
    }

    @Test("A question that nobody answers within --question-timeout is answered with no")
    func questionExpired() async throws {
        try await withAgent(host: ["--question-timeout", "1s"]) { host, user, events in
            let sent = try await user.spawn(["send", "--new", "ask", "--json"])
            let lines = try sent.json
            #expect(sent.status == 0 && lines.last?["answer"] == .text("chosen: n"), "\(sent)")
            let decided = lines.first { $0["type"] == .text("approval_decided") }
            #expect(decided?["state"] == .text("expired") && decided?["decidedBy"] == nil, "\(sent)")
            #expect(try await events.first("question_ended")["outcome"] == .text("expired"))
            let listed = try await host.spawn(["host", "approvals", "list", "--all", "--json"])
            #expect(try listed.json.map { $0["status"] } == [.text("expired")], "\(listed)")
        }
    }
}
