import CompanionWire
import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// Questions of the agent: stored, answered once, and answered with no in the end.
@Suite("Questions of an agent", .timeLimit(.minutes(15)))
struct AgentQuestionTests {
    private static let asked = ProposedTool(
        call: ToolReport(id: "t", title: "Run it", kind: "execute"),
        arguments: "rm -r build\n",
        options: [
            ApprovalOption(id: "y", name: "Yes", kind: .allowOnce),
            ApprovalOption(id: "Y", name: "Always", kind: .allowAlways),
            ApprovalOption(id: "n", name: "No", kind: .rejectOnce),
        ]
    )
    private static let turn = AgentTurn(id: "turn", chatID: "chat", prompt: "go", directory: "/p")
    private static let laptop = CompanionDevice(id: "0123456789abcdef", name: "Laptop", pairedAt: nil, lastSeenAt: nil)

    /// Questions with a clock of their own, asked by nobody's agent.
    private struct QuestionsUnderTest {
        let questions: AgentQuestions
        let database: HostDatabase
        let clock: TestClock
        let events: HostEventSink
        /// What the turn's readers are told.
        let told = NIOLockedValueBox<[TurnEvent]>([])

        init(_ directory: String, timeout: Duration = .seconds(1800), clock: TestClock = TestClock()) throws {
            self.clock = clock
            database = try HostDatabase(path: directory + "/host.sqlite")
            events = HostEventSink(live: LiveEventBroadcaster(clock: clock.hostClock))
            questions = try AgentQuestions(
                database: database,
                clock: clock.hostClock,
                timeout: timeout,
                events: events,
                logger: .silent
            )
        }

        func ask(_ asked: AgentQuestion = .tool(AgentQuestionTests.asked)) async -> ApprovalAnswer {
            await questions.ask(asked, turn: AgentQuestionTests.turn) { event in
                told.withLockedValue { $0.append(event) }
            }
        }

        /// The id of the next question.
        func asked() async throws -> String {
            for await event in events.stream {
                if case .questionAsked(let question) = event, question.title == "Run it" { return question.id }
            }
            throw TestFailure("the host ended")
        }
    }

    /// Runs a body while a question waits for its answer.
    private func withQuestion(
        timeout: Duration = .seconds(1800),
        options: [ApprovalOption]? = nil,
        _ body: (QuestionsUnderTest, _ id: String, _ decision: Task<ApprovalAnswer, Never>) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let tested = try QuestionsUnderTest(directory, timeout: timeout)
            defer { tested.database.close() }
            var asked = Self.asked
            if let options { asked.options = options }
            let decision = Task { [asked] in await tested.ask(.tool(asked)) }
            defer { decision.cancel() }
            try await body(tested, try await tested.asked(), decision)
        }
    }

    @Test("A question is answered an hour later, once: of two answers at the same time, one learns who was first")
    func once() async throws {
        try await withQuestion(timeout: .seconds(7200)) { tested, id, decision in
            tested.clock.advance(by: 3600)
            let open = try await tested.questions.list(all: false)
            #expect(open.map(\.title) == ["Run it"] && open[0].arguments == nil)
            #expect(try await tested.questions.question(id: id)?.arguments == "rm -r build\n")
            let outcomes = await withTaskGroup(of: String.self) { group in
                for option in ["y", "n"] {
                    group.addTask {
                        do {
                            let decider = QuestionDecider(Self.laptop)
                            return try await tested.questions.decide(id, with: .option(option), by: decider).state
                                .rawValue
                        } catch {
                            return (error as? HostError)?.text ?? "\(error)"
                        }
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            let state = outcomes.contains("approved") ? "approved" : "rejected"
            #expect(outcomes == [state, "Device “Laptop” answered first: the question was \(state)"])
            #expect(await decision.value == .option(state == "approved" ? "y" : "n"))
            #expect(try await tested.questions.list(all: false).isEmpty)
            #expect(
                tested.told.withLockedValue(\.self).map { event -> String in
                    if case .question(let question) = event { question.state.rawValue } else { "\(event)" }
                } == ["open", state]
            )
            let rows = try await AuditLog(database: tested.database).rows()
            #expect(rows.map(\.kind) == ["question.decided"])
            #expect(rows[0].detail["outcome"]?.string == state && rows[0].detail["by"]?.string == "Device “Laptop”")
            #expect(rows[0].device == Self.laptop.id)
        }
    }

    @Test("Without an answer it is no after half an hour, not before")
    func expiry() async throws {
        try await withQuestion { tested, id, decision in
            tested.clock.advance(by: 1799)
            let early = try await tested.questions.question(id: id)?.state
            #expect(early == .open)
            // The wait may begin only now.
            let ticking = Task {
                while !Task.isCancelled {
                    tested.clock.advance(by: 1)
                    await Task.yield()
                }
            }
            #expect(await decision.value == .option("n"))
            ticking.cancel()
            let last = try await tested.questions.question(id: id)?.state
            #expect(last == .expired)
            await #expect(throws: HostError.self) {
                try await tested.questions.decide(id, with: .allow(always: false), by: .owner)
            }
        }
    }

    @Test("An answer that the agent does not offer is refused, and the question stays open")
    func unoffered() async throws {
        try await withQuestion { tested, id, decision in
            for answer in [ApprovalAnswer.reject(always: true, reason: nil), .option("z")] {
                let error = await #expect(throws: HostError.self) {
                    try await tested.questions.decide(id, with: answer, by: .owner)
                }
                #expect(error?.code == .requestInvalid)
                let offered = "Yes (allow once); Always (allow always); No (reject once)"
                #expect(error?.text == "The agent does not offer this answer. It offers: \(offered)")
            }
            _ = try await tested.questions.decide(id, with: .allow(always: true), by: .owner)
            #expect(await decision.value == .option("Y"))
        }
    }

    private static let yes = ApprovalOption(id: "y", name: "Yes", kind: .allowOnce)
    private static let no = ApprovalOption(id: "n", name: "No", kind: .rejectOnce)
    private static let never = ApprovalOption(id: "N", name: "Never", kind: .rejectAlways)

    @Test(
        "A question can be rejected whatever the agent offers",
        arguments: [
            ([yes, never, no], true, ApprovalAnswer.option("n")), ([yes, never], true, .option("N")),
            ([yes], true, .cancelled), ([yes, never, no], false, .option("n")), ([yes, never], false, .cancelled),
            ([yes], false, .cancelled),
        ]
    )
    func rejection(options: [ApprovalOption], isOwner: Bool, expected: ApprovalAnswer) async throws {
        try await withQuestion(options: options) { tested, id, decision in
            let decider = isOwner ? QuestionDecider.owner : QuestionDecider(Self.laptop)
            let decided = try await tested.questions.decide(id, with: .reject(always: false, reason: nil), by: decider)
            #expect(decided.state == .rejected && decided.decidedBy == decider.name)
            #expect(await decision.value == expected)
        }
    }

    @Test(
        "Every answer that lets the agent go on can be chosen, by its name or its id",
        arguments: [
            ("z", "z"), ("Yes, in docs", "z"), ("Sometimes", "s"), ("s", "s"), ("y", "y"),
            ("No", "“No” is a rejection: use reject"), ("a", "a"), ("b", "b"),
            ("Twice", "Several answers are called “Twice”. Use the id: a, b"),
            (
                "x",
                "The agent does not offer this answer. It offers: Yes (allow once); Yes, in docs (allow once); "
                    + "Sometimes (unknown); No (reject once); Twice (allow always), id a; Twice (allow always), id b"
            ),
        ]
    )
    func named(word: String, outcome: String) async throws {
        let options = [
            Self.yes, ApprovalOption(id: "z", name: "Yes, in docs", kind: .allowOnce),
            ApprovalOption(id: "s", name: "Sometimes", kind: .other), Self.no,
            ApprovalOption(id: "a", name: "Twice", kind: .allowAlways),
            ApprovalOption(id: "b", name: "Twice", kind: .allowAlways),
        ]
        try await withQuestion(options: options) { tested, id, decision in
            do {
                let decided = try await tested.questions.decide(id, with: .named(word), by: .owner)
                #expect(decided.state == .approved && decided.option == outcome)
                #expect(await decision.value == .option(outcome))
            } catch let error as HostError {
                #expect(error.text == outcome && error.code == .requestInvalid)
            }
        }
    }

    @Test("A device is called one, also if it has the name of the owner")
    func impostor() async throws {
        try await withQuestion { tested, id, decision in
            let device = CompanionDevice(id: "d", name: "The owner", pairedAt: nil, lastSeenAt: nil)
            let decided = try await tested.questions.decide(id, with: .option("y"), by: QuestionDecider(device))
            #expect(decided.decidedBy == "Device “The owner”")
            let error = await #expect(throws: HostError.self) {
                try await tested.questions.decide(id, with: .option("n"), by: .owner)
            }
            #expect(error?.text == "Device “The owner” answered first: the question was approved")
            _ = await decision.value
        }
    }

    @Test("An answer in the moment of a cancellation is stored as what the agent got")
    func cancelledMeanwhile() async throws {
        try await withQuestion { tested, id, decision in
            // Stored, and not handed to the agent yet.
            _ = try await tested.database.writeChecked(durably: true) { database in
                _ = try tested.questions.decide(id, with: .allow(always: false), by: .owner, in: database)
            }
            decision.cancel()
            #expect(await decision.value == .cancelled)
            let last = try await tested.questions.question(id: id)
            #expect(last?.state == .cancelled && last?.option == nil && last?.decidedBy == nil)
            let rows = try await AuditLog(database: tested.database).rows()
            #expect(rows.map { $0.detail["outcome"]?.string } == ["approved", "cancelled"])
        }
    }

    @Test("When the agent went on after an answer is known")
    func continuation() async throws {
        try await withQuestion { tested, id, decision in
            let decided = try await tested.questions.decide(id, with: .option("y"), by: .owner)
            _ = await decision.value
            let before = try await tested.questions.question(id: id)
            #expect(before?.state == .approved && before?.continuedAt == nil)
            tested.clock.advance(by: 5)
            let events = tested.events.observed(by: tested.questions.note)
            events.send(.questionContinued(ApprovalNotice(.continued, of: decided), chatID: "chat", turnID: "turn"))
            let time = tested.clock.now
            #expect(try await tested.questions.question(id: id)?.continuedAt == time)
            #expect(try await tested.questions.list(all: true).map(\.continuedAt) == [time])
        }
    }

    @Test("A question shows the paths that rules decide by, unless its changes show them")
    func paths() throws {
        func shown(_ call: [String: JSONValue]) throws -> String {
            var call = call
            (call["toolCallId"], call["title"]) = ("t", "Do it")
            let value: JSONValue = [
                "sessionId": "s", "toolCall": .object(call),
                "options": [["optionId": "y", "name": "Yes", "kind": "allow_once"]],
            ]
            var conversation = ACPConversation()
            return conversation.question(try #require(ACPQuestion(key: 0, value: value))).arguments
        }
        let places: JSONValue = [["path": "/etc/passwd"], ["path": "docs/a.md", "line": 1]]
        #expect(try shown(["kind": "delete", "locations": places]) == "path: /etc/passwd\npath: docs/a.md:1\n")
        let change: JSONValue = [["type": "diff", "path": "docs/a.md", "oldText": "1\n", "newText": "2\n"]]
        let edit = try shown(["kind": "edit", "locations": places, "content": change])
        #expect(edit.hasPrefix("path: /etc/passwd\n--- docs/a.md\n") && !edit.contains("path: docs/a.md"), "\(edit)")
        let command = try shown(["kind": "execute", "locations": places, "rawInput": ["command": "rm x", "n": 1]])
        #expect(command.hasPrefix("rm x\npath: /etc/passwd\npath: docs/a.md:1\n{"), "\(command)")
        let hidden = try shown(["kind": "read", "locations": [["path": "a\nb"]]])
        #expect(hidden.hasPrefix("path: /? (a path that cannot be shown") && hidden.utf8.count { $0 == 0x0A } == 1)
    }

    @Test("Only the owner answers for later questions too, and hears of a device that tries")
    func always() async throws {
        try await withQuestion { tested, id, decision in
            let error = await #expect(throws: HostError.self) {
                try await tested.questions.decide(id, with: .option("Y"), by: QuestionDecider(Self.laptop))
            }
            #expect(error?.code == .permissionDenied)
            for await event in tested.events.stream {
                guard case .alwaysRefused(let question, let device) = event else { continue }
                #expect(question.id == id && device == Self.laptop)
                break
            }
            let early = try await tested.questions.question(id: id)?.state
            #expect(early == .open)
            _ = try await tested.questions.decide(id, with: .option("Y"), by: .owner)
            #expect(await decision.value == .option("Y"))
        }
    }

    @Test("The end of the turn withdraws the question")
    func cancelled() async throws {
        try await withQuestion { tested, id, decision in
            decision.cancel()
            #expect(await decision.value == .cancelled)
            let last = try await tested.questions.question(id: id)?.state
            #expect(last == .cancelled)
        }
    }

    @Test("An open question is listed first, also behind a hundred newer ones that were answered")
    func order() async throws {
        try await withQuestion { tested, id, _ in
            for number in 0..<120 {
                async let decision = tested.ask()
                let other = try await tested.asked()
                _ = try await tested.questions.decide(
                    other,
                    with: number == 119 ? .reject(always: false, reason: nil) : .allow(always: false),
                    by: .owner
                )
                _ = await decision
            }
            let all = try await tested.questions.list(all: true)
            #expect(all.first?.id == id && all.first?.state == .open)
            #expect(all.count == 1 + AgentQuestions.listed)
            #expect(all[1].state == .rejected, "then the newest")
            #expect(try await tested.questions.list(all: false).map(\.id) == [id])
        }
    }

    @Test("A host that is restarted says which questions were open, and takes no answer to them")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let tested = try QuestionsUnderTest(directory)
            let task = Task { await tested.ask() }
            let id = try await tested.asked()
            // As a crash leaves it.
            tested.database.close()
            task.cancel()
            _ = await task.value
            let next = try QuestionsUnderTest(directory)
            defer { next.database.close() }
            #expect(try await next.questions.question(id: id)?.state == .interrupted)
            for await event in next.events.stream {
                guard case .questionEnded(let question) = event else { continue }
                #expect(question.id == id && question.state == .interrupted && question.decidedBy == nil)
                break
            }
            let error = await #expect(throws: HostError.self) {
                try await next.questions.decide(id, with: .allow(always: false), by: .owner)
            }
            #expect(error?.text == "The host was restarted: the agent that asked is gone")
            let rows = try await AuditLog(database: next.database).rows()
            #expect(rows.map(\.kind) == ["question.decided"])
            #expect(rows[0].detail["question"]?.string == id && rows[0].detail["outcome"]?.string == "interrupted")
            #expect(rows[0].detail["by"]?.string == "nobody" && rows[0].device == nil)
        }
    }

    @Test("How long nobody answered is said in full", arguments: [(30.0, "30 s"), (90, "90 s"), (1800, "30 min")])
    func times(seconds: Double, text: String) {
        var frames = AgentFrames()
        let now = Date()
        var question = Approval(
            id: "q",
            chatId: "c",
            turnId: "t",
            title: "Run it",
            kind: "",
            options: [],
            askedAt: now,
            expiresAt: now.addingTimeInterval(seconds)
        )
        question.state = .expired
        let decided = TurnEvent.question(ApprovalNotice(.decided, of: question))
        #expect(frames.take(decided).first == .status("Nobody answered within \(text): rejected"))
        #expect(frames.take(.usage(TurnUsage(totalTokens: 1))) == [.usage(TurnUsage(totalTokens: 1))])
        let continued = TurnEvent.question(ApprovalNotice(.continued, of: question))
        #expect(frames.take(.thought("x")).first == continued)
        #expect(!frames.take(.thought("x")).contains(continued))
    }
}
