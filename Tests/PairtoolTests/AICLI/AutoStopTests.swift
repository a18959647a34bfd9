import CompanionTestSupport
import Testing

@testable import pairtool

/// The stop key of `pairtool chat --auto`, as the built binary has it.
@Suite(.timeLimit(.minutes(15))) struct AutoStopTests {
    private static let command = ["chat", "web", "--auto", "smart-stop", "--json"]

    /// Follows a chat whose first automatic prompt is held at the server, at the door `turn`.
    private func withHeldTurn(
        _ body: @escaping @Sendable (FakeAICLI, Follower) async throws -> Void
    ) async throws -> (server: FakeAICLI, result: Sandbox.Result) {
        var script = FakeAICLIScript()
        let held = FakeAICLITurn([.text("More."), .hold("turn"), .result, .reply("More.")])
        script.turns = [.answering("Half."), held, .answering("Too much.")]
        return try await withFakeAICLI(script) { server in
            try await Sandbox.with { user in
                try await user.pair(server)
                let (_, result) = try await user.follow(Self.command, stdin: "go\n") { chat in
                    try await server.reached("turn")
                    try chat.interrupt()
                    try await chat.messages.has("Auto mode stops after this answer")
                    try await body(server, chat)
                }
                return (server, result)
            }
        }
    }

    @Test("The first Ctrl-C makes the answer that runs the last one: it is shown, and nothing more is sent")
    func first() async throws {
        let (server, result) = try await withHeldTurn { server, _ in server.release("turn") }
        #expect(result.status == 0, "\(result)")
        #expect(server.prompts.count == 2)
        let answers = try result.json.filter { $0["type"]?.string == "finished" }.compactMap { $0["answer"]?.string }
        #expect(answers == ["Half.", "More."])
        #expect(result.err.contains("Auto mode ended: you stopped it"), "\(result.err)")
        #expect(!result.err.contains("Stopped waiting"))
    }

    @Test("The second Ctrl-C stops waiting for it, and the chat goes on")
    func second() async throws {
        let (server, result) = try await withHeldTurn { _, chat in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                // Signals that follow closely are one, so they come until one counts.
                group.addTask {
                    while true {
                        try await ContinuousClock().sleep(for: .milliseconds(400))
                        try chat.interrupt()
                    }
                }
                group.addTask { try await chat.messages.has("Stopped waiting. The host finishes the answer") }
                try await group.next()
            }
        }
        #expect(result.status == 0, "\(result)")
        #expect(server.prompts.count == 2)
        let answers = try result.json.filter { $0["type"]?.string == "finished" }.compactMap { $0["answer"]?.string }
        #expect(answers == ["Half."])
        #expect(result.err.contains("Auto mode ended: you stopped it"), "\(result.err)")
    }
}
