import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

/// Questions of the agent, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct AICLIQuestionTests {
    private static let turn = FakeAICLITurn([
        .text("I would run it."), .ask("Run rm?", options: ["y", "n"], tool: "Bash", copies: 3), .text("Done."),
        .result,
        .reply("Done."),
    ])

    /// The first answers are given in order; what is asked is noted.
    private static func answering(
        _ answers: String?...,
        noting asked: NIOLockedValueBox<[String]> = NIOLockedValueBox([])
    ) -> AICLIPermissionAnswering {
        let left = NIOLockedValueBox(answers)
        return { approval in
            asked.withLockedValue { $0.append(approval.title) }
            let word: String? = left.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
            return word.map { ApprovalAnswer.option($0) } ?? .reject(always: false, reason: nil)
        }
    }

    @Test(
        "A question stays open past the reply to the prompt; its answer is the next prompt, and what follows is shown",
        arguments: [("y", "y"), (nil, "n")] as [(String?, String)]
    )
    func question(_ answer: String?, _ word: String) async throws {
        let asked = NIOLockedValueBox<[String]>([])
        try await withAICLI(.turns(Self.turn), permissions: Self.answering(answer, noting: asked)) { peers in
            let shown = try await peers.send("go", tools: ["Read"])
            #expect(shown.error == nil, "\(String(describing: shown.error))")
            #expect(asked.withLockedValue(\.self) == ["Run rm?"])
            #expect(peers.server.prompts == ["go", word])
            #expect(peers.server.frames("permission").isEmpty)
            #expect(shown.text.hasSuffix("\n\nDone.") && shown.summary?.answer.hasSuffix("\n\nDone.") == true)
            let said = try await peers.transcript()
            #expect(said.first == "user: go" && said.suffix(2) == ["user: \(word)", "assistant: Done."], "\(said)")
        }
    }

    @Test("One question after the other is asked, and each answered by a prompt of its own")
    func several() async throws {
        let turn = FakeAICLITurn([
            .ask("Run ls?", options: ["y", "n"], tool: "Bash", copies: 2),
            .ask("Write it?", options: ["allow", "deny"], tool: "Write", copies: 1),
            .ask("Run ls?", options: ["y", "n"], tool: "Bash", copies: 2), .reply("Done."),
        ])
        try await withAICLI(.turns(turn)) { peers in
            let shown = try await peers.send("go", tools: ["Bash"])
            #expect(shown.error == nil && shown.text.hasSuffix("Done."), "\(shown)")
            #expect(peers.server.prompts == ["go", "y", "deny", "y"])
            #expect(shown.notices.count { $0 == "Allowed: Run ls?" } == 2)
            #expect(shown.notices.contains("Denied: Write it?"))
        }
    }

    @Test(
        "A server that waits within the turn, as the documents say, gets its answer there, a moment later",
        arguments: [("y", "y"), (nil, "n")] as [(String?, String)]
    )
    func withinTurn(_ answer: String?, _ word: String) async throws {
        let whole = FakeAICLITurn(Self.turn.steps.dropLast() + [.reply("I would run it.\n\nDone.")])
        var script = FakeAICLIScript.turns(whole)
        script.asksWithinTurn = true
        try await withAICLI(script, permissions: Self.answering(answer)) { peers in
            var peers = peers
            peers.host.runner.configuration.question = .milliseconds(20)
            let shown = try await peers.send("go")
            #expect(shown.text == "I would run it.\n\nDone.")
            #expect(peers.server.frames("permission").map { $0.data["response"]?.string } == [word])
            #expect(peers.server.prompts == ["go"])
        }
    }

    @Test("A build of late July gets its answer within the turn, at once")
    func july() async throws {
        var script = FakeAICLIScript(.july)
        script.turns = [Self.turn]
        try await withAICLI(script, permissions: Self.answering("y")) { peers in
            let shown = try await peers.send("go")
            #expect(shown.error == nil && shown.text == "I would run it.\n\nDone.")
            #expect(peers.server.frames("permission").map { $0.data["response"]?.string } == ["y"])
        }
    }

    @Test("A connection that breaks while the user thinks costs nothing: the answer goes out on the next one, once")
    func broken() async throws {
        let (questions, asked) = AsyncStream<Void>.makeStream()
        let (breaks, broke) = AsyncStream<Void>.makeStream()
        let permissions: AICLIPermissionAnswering = { _ in
            asked.yield()
            for await _ in breaks { break }
            return .allow(always: false)
        }
        try await withAICLI(.turns(Self.turn), permissions: permissions) { peers in
            async let sending = {
                // Where it fails before the question, nobody waits for that.
                defer { asked.finish() }
                return try await peers.send("go") {
                    // An answer before that would go out on the connection that is gone.
                    if case .recovering(let notice) = $0, notice.contains("broke") { broke.yield() }
                }
            }()
            for await _ in questions { break }
            await peers.server.resetAll()
            let shown = try await sending
            #expect(shown.error == nil, "\(String(describing: shown.error))")
            #expect(peers.server.prompts == ["go", "y"])
            #expect(shown.text.hasSuffix("Done."))
        }
    }
}
