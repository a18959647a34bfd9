import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// The Python that `scripts/make-agents` has made.
private let python =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/.build/agents-venv/bin/python"

/// An agent that nobody here wrote: pydantic-acp from PyPI, with a model that calls every tool once and needs no
/// network. `scripts/make-agents` installs it.
@Suite(
    "A real agent, pydantic-acp",
    .enabled(if: AgentProgram.find(python) != nil, "run scripts/make-agents"),
    .timeLimit(.minutes(5))
)
struct RealAgentTests {
    private static let source = """
        import pathlib, sys
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.models.test import TestModel
        from pydantic_acp import AdapterConfig, FileSessionStore, NativeApprovalBridge, run_acp

        place = pathlib.Path(sys.argv[1])
        agent = Agent(TestModel(), name="test", output_type=[str, DeferredToolRequests])

        @agent.tool_plain(requires_approval=True)
        def delete_file(path: str) -> str:
            with open(place / "ran", "a") as file: file.write(path + "\\n")
            return "deleted"

        run_acp(agent=agent, config=AdapterConfig(
            session_store=FileSessionStore(root=place / "sessions"),
            approval_bridge=NativeApprovalBridge(enable_persistent_choices=True)))
        """

    private func withAgent<R: Sendable>(
        in directory: String,
        sessions: ACPAgentTests.Sessions = .init(),
        _ body: @escaping @Sendable (ACPAgentTests.Bench) async throws -> R
    ) async throws -> R {
        try Data(Self.source.utf8).write(to: URL(filePath: directory + "/agent.py"))
        let launch = ACPLaunch(name: "Real", command: [python, directory + "/agent.py", directory])
        return try await ACPAgentTests.run(launch, directory, sessions) { try await body($0) }
    }

    private static func decide(_ kind: AgentOption.Kind) -> @Sendable (AgentQuestion) async -> AgentDecision {
        { question in question.options.first { $0.kind == kind }.map { .option($0.id) } ?? .cancelled }
    }

    /// How often its tool ran.
    private static func runs(_ bench: ACPAgentTests.Bench) -> Int {
        bench.file("ran")?.split(separator: "\n").count ?? 0
    }

    @Test(
        "Its tool runs when it is allowed, once or always, and does not when it is refused",
        arguments: [AgentOption.Kind.allowOnce, .allowAlways, .rejectOnce, .rejectAlways]
    )
    func permission(_ kind: AgentOption.Kind) async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                _ = try await bench.send("delete it", ask: Self.decide(kind))
                #expect(Self.runs(bench) == (kind.allows ? 1 : 0))
                let question = try #require(bench.questions.withLockedValue { $0.first })
                #expect(question.arguments.contains("path"))
                #expect(Set(question.options.map(\.kind)).isSuperset(of: [.allowOnce, .rejectOnce]))
                // Its model calls a tool once in a conversation: it remembers.
                _ = try await bench.send("again", ask: Self.decide(kind))
                #expect(bench.questions.withLockedValue { $0.count } == 1)
                #expect(Self.runs(bench) == (kind.allows ? 1 : 0))
            }
        }
    }

    @Test("Cancelled while it asks, it runs nothing, and the chat goes on")
    func cancel() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                let (asked, ask) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    try await bench.send(
                        "delete it",
                        ask: { _ in
                            ask.yield()
                            await waitUntilCancelled()
                            return .option("allow_once")
                        }
                    )
                }
                for await _ in asked { break }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(Self.runs(bench) == 0)
                _ = try await bench.send("go on", ask: Self.decide(.rejectOnce))
                #expect(Self.runs(bench) == 0)
            }
        }
    }

    @Test("After a restart it takes up its session, and remembers")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let sessions = ACPAgentTests.Sessions()
            for count in [1, 0] {
                try await withAgent(in: directory, sessions: sessions) { bench in
                    _ = try await bench.send("delete it", ask: Self.decide(.allowOnce))
                    // Its model calls a tool once in a conversation: it remembers.
                    #expect(bench.questions.withLockedValue { $0.count } == count)
                    #expect(
                        !bench.events.withLockedValue { $0.contains { if case .notice = $0 { true } else { false } } }
                    )
                }
            }
            #expect(sessions.records.withLockedValue { $0.count } == 1)
        }
    }

    @Test("Ten chats at once")
    func ten() async throws {
        try await withTemporaryDirectory { directory in
            try await withAgent(in: directory) { bench in
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            do {
                                _ = try await bench.send(
                                    "delete it",
                                    chat: "chat-\(number)",
                                    ask: Self.decide(number % 2 == 0 ? .allowOnce : .rejectOnce)
                                )
                            } catch {
                                Issue.record("\(error)")
                            }
                        }
                    }
                }
                #expect(Self.runs(bench) == 5)
            }
        }
    }
}
