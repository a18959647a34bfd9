import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// An agent that does not do what it is asked, and how a chat goes on after it.
@Suite("Trouble with an agent", .timeLimit(.minutes(15)))
struct ACPTroubleTests {
    private typealias Bench = ACPAgentTests.Bench

    private static func run<R: Sendable>(
        _ options: [String],
        in directory: String,
        sessions: ACPAgentTests.Sessions = .init(),
        limits: ACPConnection.Limits = .init(),
        _ body: @escaping @Sendable (ACPAgentTests.Bench) async throws -> R
    ) async throws -> R {
        let command = try FakeACPAgent.command(in: directory) + options
        // With an id, it is the same agent whatever its options are.
        let launch = ACPLaunch(id: "fake", name: "Fake", command: command, signInHint: "run fake login")
        return try await ACPAgentTests.run(launch, directory, sessions, limits, body)
    }

    private static func notices(_ bench: Bench) -> [String] {
        bench.notices.withLockedValue { $0 }
    }

    private static func starts(_ bench: Bench) -> Int {
        bench.events.withLockedValue { $0.count { $0 == .status("Starting Fake") } }
    }

    static let changes = [
        ("new", "early-yolo", "yolo"), ("new", "early-option", "YOLO"), ("new", "replay-yolo", "yolo"),
        ("load", "early-yolo", "yolo"), ("load", "early-option", "YOLO"), ("load", "replay-yolo", "yolo"),
        ("resume", "early-yolo", "yolo"), ("resume", "early-option", "YOLO"), ("resume", "replay-yolo", "yolo"),
    ]

    @Test("A session that begins in a mode that asks nothing is refused, however the agent says so", arguments: changes)
    func earlyMode(_ way: String, _ option: String, _ name: String) async throws {
        try await withTemporaryDirectory { directory in
            let sessions = ACPAgentTests.Sessions()
            if way != "new" {
                let answer = try await Self.run([way], in: directory, sessions: sessions) {
                    try await $0.send("say one")
                }
                #expect(answer == "one")
            }
            try await Self.run([way, option], in: directory, sessions: sessions) { (bench: Bench) async throws in
                let failure = await bench.failure("say two")
                #expect(
                    failure == "Fake is in the mode “\(name)”, in which it asks nothing. Its host does not allow that"
                )
                #expect(Self.notices(bench).isEmpty, "its session goes on")
            }
        }
    }

    @Test("A mode among the agent's options is left, and the agent's answer tells whether it was")
    func options() async throws {
        try await withTemporaryDirectory { directory in
            try await Self.run(["config-yolo"], in: directory) { (bench: Bench) async throws in
                #expect(try await bench.send("say one") == "one")
                #expect(bench.file("option") == #"["m", "ask"]"#)
                let modes = bench.events.withLockedValue { $0.filter { if case .mode = $0 { true } else { false } } }
                #expect(modes == [.mode(AgentMode("Ask first")!)])
            }
        }
        try await withTemporaryDirectory { directory in
            try await Self.run(["config-stuck"], in: directory) { (bench: Bench) async throws in
                let failure = await bench.failure("say one")
                #expect(failure == "Fake is in the mode “YOLO”, in which it asks nothing. Its host does not allow that")
                #expect(bench.file("option") == #"["m", "ask"]"#)
            }
        }
    }

    @Test("An agent that stops reading is ended with its turn, and the next prompt starts it again")
    func unread() async throws {
        var limits = ACPConnection.Limits()
        limits.cancel = .milliseconds(200)
        try await withTemporaryDirectory { directory in
            let sessions = ACPAgentTests.Sessions()
            try await Self.run(["stops-reading"], in: directory, sessions: sessions, limits: limits) {
                (bench: Bench) async throws in
                let task = Task { try await bench.send(String(repeating: "x", count: 1 << 20)) }
                // From here on, the prompt is sent, even if it is cancelled.
                try await eventually {
                    bench.file("stopped") != nil && sessions.records.withLockedValue { $0["c"] != nil }
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                let process = try #require(bench.file("stopped").flatMap { Int32($0) })
                try await eventually { !isAlive(process) }
                #expect(try await bench.send("say on") == "on")
                #expect(Self.starts(bench) == 2)
            }
        }
    }

    @Test("A chat whose session the agent has forgotten goes on in a new one, and says so")
    func forgotten() async throws {
        try await withTemporaryDirectory { directory in
            try await Self.run([], in: directory) { (bench: Bench) async throws in
                #expect(try await bench.send("drop") == "dropped")
                #expect(try await bench.send("say two") == "two")
                let notice = "Fake no longer has its session: this is a new session without the earlier messages."
                #expect(Self.notices(bench) == [notice])
                #expect(try await bench.send("recall") == "say two")
                #expect(Self.notices(bench) == [notice])
                #expect(Self.starts(bench) == 1)
            }
        }
    }

    @Test("What the agent does not find in a new session either is told, and what it has begun is not repeated")
    func missing() async throws {
        try await withTemporaryDirectory { directory in
            try await Self.run([], in: directory) { (bench: Bench) async throws in
                #expect(await bench.failure("partly-missing") == "Fake could not do this: Resource not found")
                #expect(Self.notices(bench).isEmpty)
                #expect(try await bench.send("recall") == "partly-missing")
                #expect(await bench.failure("missing") == "Fake could not do this: Resource not found")
                #expect(Self.notices(bench).count == 1)
            }
        }
    }

    @Test("After its owner has signed in, the next prompt is answered")
    func signIn() async throws {
        try await withTemporaryDirectory { directory in
            try await Self.run(["credentials"], in: directory) { (bench: Bench) async throws in
                let words = "Fake asks to sign in. At the host: run fake login. Then send the prompt again"
                #expect(await bench.failure("say one") == words)
                try Data().write(to: URL(filePath: directory + "/credentials"))
                #expect(try await bench.send("say two") == "two")
                #expect(Self.starts(bench) == 2)
                #expect(await bench.failure("sign-out") == words)
                #expect(try await bench.send("say three") == "three")
                #expect(Self.starts(bench) == 3, "a process that was signed out is replaced, too")
            }
        }
    }

    @Test("Another call with the id of one that has ended is shown, without what the first one was")
    func reused() async throws {
        try await withTemporaryDirectory { directory in
            try await Self.run([], in: directory) { (bench: Bench) async throws in
                try await bench.send("reuse")
                var frames = AgentFrames()
                let shown = bench.events.withLockedValue { $0 }.flatMap { frames.take($0) }.filter { frame in
                    switch frame {
                    case .toolStart, .toolComplete, .tool: true
                    default: false
                    }
                }
                let tools = shown.filter { if case .tool = $0 { false } else { true } }
                #expect(
                    tools == [
                        .toolStart(name: "Read", id: "t"),
                        .toolComplete(name: "Read", id: "t", success: true, details: "a.txt"),
                        .toolStart(name: "Run", id: "t"),
                        .toolComplete(name: "Run", id: "t", success: true, details: nil),
                    ]
                )
                #expect(shown.count == tools.count + 3, "what was read is told while it is read, and each at its end")
            }
        }
    }
}
