import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// An agent's process that ends at each point of a conversation.
@Suite("The death of an agent's process", .timeLimit(.minutes(5)))
struct ACPDeathTests {
    /// All that an agent writes for a prompt. For an empty line it reads one: `initialize`, `session/new` or
    /// `session/load`, `session/prompt` and the answer to its question.
    static let session = [
        "",
        #"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#,
        "",
        update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"of before"}"#),
        #"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#,
        "",
        update(#""sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm"}"#),
        update(#""sessionUpdate":"tool_call","toolCallId":"t","title":"Run it","status":"pending""#),
        update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"One, "}"#),
        #"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}"#,
        "",
        update(#""sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed""#),
        update(#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"two."}"#),
        #"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
    ]
    /// So many lines end with the question.
    private static let asked = 10

    private static func update(_ members: String) -> String {
        #"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{\#(members)}}}"#
    }

    @Test(
        "Behind each line, it ends the turn with a message, leaves no process, and the next prompt is answered",
        arguments: [false, true],
        0...ACPDeathTests.session.count
    )
    func death(isLoaded: Bool, lines: Int) async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.playing(Self.session, in: directory)
            try Data("\(lines)\n".utf8).write(to: URL(filePath: directory + "/death"))
            let launch = ACPLaunch(name: "Fake", command: command)
            let sessions = ACPAgentTests.Sessions()
            if isLoaded {
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
                if lines < Self.session.count {
                    let error = await #expect(throws: AgentError.self) { try await Self.send("one", bench, lines) }
                    #expect(error?.message == message)
                } else {
                    let answer = try await Self.send("one", bench, lines)
                    #expect(answer == "One, two.")
                    // Its end comes behind that of the turn.
                    try await eventually { bench.reports.withLockedValue { !$0.isEmpty } }
                }
                let answer = try await Self.send("two", bench, nil)
                #expect(answer == "One, two.")
                try await eventually { bench.reports.withLockedValue { !$0.isEmpty } }
                #expect(bench.reports.withLockedValue { $0.map(\.message) } == [message])
            }
            let text = try String(contentsOfFile: directory + "/processes", encoding: .utf8)
            let processes = text.split { $0 == " " || $0 == "\n" }.compactMap { Int32($0) }
            #expect(processes.count == 4, "two agents, each with a child")
            try await eventually { !processes.contains(where: isAlive) }
        }
    }

    /// Sends a prompt, and answers its question unless the process dies with it open.
    private static func send(_ prompt: String, _ bench: ACPAgentTests.Bench, _ lines: Int?) async throws -> String {
        try await bench.send(
            prompt,
            ask: { question in
                if lines == asked { await waitUntilCancelled() }
                return question.options.first.map { .option($0.id) } ?? .cancelled
            }
        )
    }
}
