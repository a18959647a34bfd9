import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// An agent's process that ends at each point of a conversation.
@Suite("The death of an agent's process", .timeLimit(.minutes(15)))
struct ACPDeathTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var session: RecordedSession
        var isLoaded = false
        /// After so many lines it ends.
        var lines: Int
        var testDescription: String { "\(session.name), \(lines) lines, \(isLoaded ? "loaded" : "new")" }
    }

    static let cases =
        [(RecordedSession.written, false), (.written, true), (.pydantic, false)].flatMap { session, isLoaded in
            (0...session.lines.count).map { Case(session: session, isLoaded: isLoaded, lines: $0) }
        }

    @Test(
        "Behind each line, it ends the turn with a message, leaves no process, and the next prompt is answered",
        arguments: ACPDeathTests.cases
    )
    func death(_ death: Case) async throws {
        let (session, lines) = (death.session, death.lines)
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.playing(session.lines, in: directory)
            try Data("\(lines)\n".utf8).write(to: URL(filePath: directory + "/death"))
            let launch = ACPLaunch(name: "Fake", command: command)
            let sessions = ACPAgentTests.Sessions()
            if death.isLoaded {
                let record = AgentSessionRecord(
                    chatID: "c",
                    agent: launch.sessionOwner,
                    sessionID: "s-1",
                    directory: directory
                )
                try await sessions.keep(record)
            }
            let message = "Fake ended with status \(10 + lines). The next prompt starts it again"
            try await ACPAgentTests.run(launch, directory, sessions) { (bench: ACPAgentTests.Bench) async throws in
                if lines < session.lines.count {
                    let error = await #expect(throws: AgentError.self) {
                        try await Self.send("one", bench, dies: lines == session.asked)
                    }
                    #expect(error?.message == message)
                } else {
                    let answer = try await Self.send("one", bench)
                    #expect(answer == session.answer)
                    // Its end comes behind that of the turn.
                    try await bench.reported(1)
                }
                let answer = try await Self.send("two", bench)
                #expect(answer == session.answer)
                try await bench.reported(1)
                #expect(bench.reports.withLockedValue { $0.map(\.message) } == [message])
            }
            let text = try String(contentsOfFile: directory + "/processes", encoding: .utf8)
            let processes = text.split { $0 == " " || $0 == "\n" }.compactMap { Int32($0) }
            #expect(processes.count == 4, "two agents, each with a child")
            try await eventually { !processes.contains(where: isAlive) }
        }
    }

    /// Sends a prompt, and answers its question unless the process dies with it open.
    private static func send(
        _ prompt: String,
        _ bench: ACPAgentTests.Bench,
        dies: Bool = false
    ) async throws -> String {
        try await bench.send(
            prompt,
            ask: { question in
                if dies { await waitUntilCancelled() }
                return question.options.first.map { ApprovalAnswer.option($0.id) } ?? .cancelled
            }
        )
    }
}
