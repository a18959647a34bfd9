import CompanionWire
import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// Questions of the agent: stored, answered once, and answered with no in the end.
@Suite("Questions of an agent", .timeLimit(.minutes(5)))
struct AgentQuestionTests {
    private static let asked = AgentQuestion(
        call: AgentToolCall(id: "t", title: "Run it", kind: "execute"),
        arguments: "rm -r build\n",
        options: [
            AgentOption(id: "y", name: "Yes", kind: .allowOnce),
            AgentOption(id: "Y", name: "Always", kind: .allowAlways),
            AgentOption(id: "n", name: "No", kind: .rejectOnce),
        ]
    )
    private static let turn = AgentTurn(id: "turn", chatID: "chat", prompt: "go", directory: "/p")

    /// What keeps questions, and the clock that it goes by.
    private struct Desk {
        let questions: AgentQuestions
        let database: HostDatabase
        let clock: TestClock
        let events: HostEventSink

        init(_ directory: String, clock: TestClock = TestClock()) throws {
            self.clock = clock
            database = try HostDatabase(path: directory + "/host.sqlite")
            events = HostEventSink(live: LiveEventBroadcaster(clock: clock.hostClock))
            questions = try AgentQuestions(
                database: database,
                clock: clock.hostClock,
                timeout: .seconds(1800),
                events: events,
                logger: .silent
            )
        }

        /// The id of the next question.
        func asked() async throws -> String {
            for await event in events.stream {
                if case .questionAsked(let id, "chat", "Run it", _) = event { return id }
            }
            throw TestFailure("the host ended")
        }
    }

    @Test("A question is answered an hour later by its owner's word, and the second answer learns who was first")
    func once() async throws {
        try await withTemporaryDirectory { directory in
            let desk = try Desk(directory)
            defer { desk.database.close() }
            async let answer = desk.questions.ask(Self.asked, turn: Self.turn)
            let id = try await desk.asked()
            desk.clock.advance(by: 1700)
            let open = try await desk.questions.list(all: false)
            #expect(open.map(\.title) == ["Run it"] && open[0].arguments == nil)
            #expect(try await desk.questions.question(id: id)?.arguments == "rm -r build\n")
            // Both at once: one of them is first.
            let outcomes = await withTaskGroup(of: String.self) { group in
                for approve in [true, false] {
                    group.addTask {
                        do {
                            let decided = try await desk.questions.decide(
                                id,
                                approve: approve,
                                always: false,
                                by: "Ada"
                            )
                            return decided.state.rawValue
                        } catch {
                            return (error as? HostError)?.text ?? "\(error)"
                        }
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            let state = outcomes.contains("approved") ? "approved" : "rejected"
            #expect(outcomes == [state, "Ada was first: the question was \(state)"])
            #expect(await answer.decision == .option(state == "approved" ? "y" : "n"))
            #expect(try await desk.questions.list(all: false).isEmpty)
            let rows = try await AuditLog(database: desk.database).rows()
            #expect(rows.map(\.kind) == ["question.decided"])
            #expect(rows[0].detail["outcome"]?.string == state && rows[0].detail["by"]?.string == "Ada")
        }
    }

    @Test("Without an answer it is no after half an hour, not before")
    func expiry() async throws {
        try await withTemporaryDirectory { directory in
            let desk = try Desk(directory)
            defer { desk.database.close() }
            async let answer = desk.questions.ask(Self.asked, turn: Self.turn)
            let id = try await desk.asked()
            desk.clock.advance(by: 1799)
            #expect(try await desk.questions.question(id: id)?.state == .open)
            // The wait may begin only now.
            let ticking = Task {
                while !Task.isCancelled {
                    desk.clock.advance(by: 1)
                    await Task.yield()
                }
            }
            #expect(await answer.decision == .option("n"))
            ticking.cancel()
            #expect(try await desk.questions.question(id: id)?.state == .expired)
            await #expect(throws: HostError.self) {
                try await desk.questions.decide(id, approve: true, always: false, by: "Ada")
            }
        }
    }

    @Test("An answer that the agent does not offer is refused, and the question stays open")
    func unoffered() async throws {
        try await withTemporaryDirectory { directory in
            let desk = try Desk(directory)
            defer { desk.database.close() }
            async let answer = desk.questions.ask(Self.asked, turn: Self.turn)
            let id = try await desk.asked()
            do {
                _ = try await desk.questions.decide(id, approve: false, always: true, by: "Ada")
                Issue.record("it was taken")
            } catch let error as HostError {
                #expect(error.code == .requestInvalid)
                #expect(error.text == "The agent does not offer this answer. It offers: Yes, Always, No")
            }
            _ = try await desk.questions.decide(id, approve: true, always: true, by: "Ada")
            #expect(await answer.decision == .option("Y"))
        }
    }

    @Test("The end of the turn withdraws the question")
    func cancelled() async throws {
        try await withTemporaryDirectory { directory in
            let desk = try Desk(directory)
            defer { desk.database.close() }
            let task = Task { await desk.questions.ask(Self.asked, turn: Self.turn) }
            let id = try await desk.asked()
            task.cancel()
            #expect(await task.value.decision == .cancelled)
            #expect(try await desk.questions.question(id: id)?.state == .cancelled)
        }
    }

    @Test("A host that is restarted says which questions were open, and takes no answer to them")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let desk = try Desk(directory)
            let task = Task { await desk.questions.ask(Self.asked, turn: Self.turn) }
            let id = try await desk.asked()
            // As a crash leaves it.
            desk.database.close()
            task.cancel()
            _ = await task.value
            let next = try Desk(directory)
            defer { next.database.close() }
            #expect(try await next.questions.question(id: id)?.state == .interrupted)
            for await event in next.events.stream {
                #expect(event == .questionEnded(id: id, chatID: "chat", outcome: "interrupted", by: nil))
                break
            }
            do {
                _ = try await next.questions.decide(id, approve: true, always: false, by: "Ada")
                Issue.record("it was taken")
            } catch let error as HostError {
                #expect(error.text == "The host was restarted: the agent that asked is gone")
            }
        }
    }
}
