import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionHost

/// Forms of an agent: asked at a host, answered once by whoever is first, and kept by nobody.
@Suite("Forms at a host", .timeLimit(.minutes(15)))
struct AgentFormTests {
    private static let properties =
        #"{"branch":{"type":"string","minLength":2},"share":{"type":"number","maximum":2},"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}}"#
    private static let form =
        #"elicit {"mode":"form","message":"Which branch?","requestedSchema":{"type":"object","properties":\#(properties),"required":["branch"]}}"#

    private func withForm(
        _ prompt: String = form,
        timeout: Duration = .seconds(7200),
        clock: HostClock = .system,
        _ body: (TestHost, TestDevice, Approval) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory)
            try await withHostAndDevice(in: directory, clock: clock) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
                $0.questionTimeout = timeout
            } _: { host, device in
                try await device.pair()
                _ = try await device.startTurn(prompt, model: "fake")
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                try await body(host, device, question)
            }
        }
    }

    private func decide(
        _ device: TestDevice,
        _ question: Approval,
        _ option: String?,
        _ content: [String: JSONValue]? = nil
    ) async throws -> Reply {
        try await device.command(
            .approvalDecide(approvalID: question.id, optionID: option, content: content),
            now: Date()
        )
    }

    private func answer(of question: Approval, _ device: TestDevice) async throws -> String {
        let reply = try await device.events(chat: question.chatId, turn: question.turnId)
        var decoder = ContinueChatStreamDecoder(isNumbered: true)
        return try decoder.feed(reply.body.utf8).reduce(into: "") { text, item in
            if case .event(.text(let piece)) = item { text += piece }
        }
    }

    @Test("A device sees the form, its mistakes are refused and it stays open; the agent gets the values alone")
    func filled() async throws {
        try await withForm { host, device, question in
            #expect(question.kind == "form" && question.title == "Which branch?")
            let listed = try await device.get("/companion/approvals").decoded(ApprovalsListResponse.self).approvals
            #expect(listed.elements[0].form == nil && listed.elements[0].asksPerson)
            let whole = try await device.get("/companion/approvals/\(question.id)").decoded(ApprovalResponse.self)
            #expect(whole.approval.form?.fields.map(\.name) == ["branch", "share", "tags"])
            let mistakes: [(String?, [String: JSONValue]?, String)] = [
                ("accept", nil, "This is a form: it needs the values of its fields"),
                ("accept", [:], "“branch” is required"),
                ("accept", ["branch": "x"], "“branch” needs at least 2 characters"),
                ("accept", ["branch": "main", "more": 1], "“more” is no field of the form"),
                ("accept", ["branch": "main", "share": "2.5"], "“share” has to be at most 2"),
                ("accept", ["branch": "main", "tags": ["z"]], "“tags” has to have any of a, b"),
            ]
            for (option, content, message) in mistakes {
                let reply = try await decide(device, question, option, content)
                #expect(reply.status == 400 && reply.body.contains(message), "\(reply)")
            }
            let values: [String: JSONValue] = ["branch": "main-7f3", "share": "1.5", "tags": ["b"]]
            let decided: Approval = try await decide(device, question, "accept", values).result()
            #expect(decided.state == .approved && decided.option == "accept")
            let told = try await answer(of: question, device)
            #expect(
                told
                    == #"elicited: {"action": "accept", "content": {"branch": "main-7f3", "share": 1.5, "tags": ["b"]}}"#
            )
            // Nothing that was typed is stored, but what the agent itself says of it.
            let rows = try await host.server.administration.audit.rows()
            #expect(rows.last?.kind == "question.decided" && rows.last?.detail["option"] == "accept")
            #expect(rows.allSatisfy { !String(decoding: $0.detail.json, as: UTF8.self).contains("branch") })
            let stored = try await device.get("/companion/approvals/\(question.id)")
            #expect(stored.body.contains("Which branch?") && !stored.body.contains("main-7f3"))
        }
    }

    @Test(
        "To decline and to dismiss are two answers",
        arguments: [(nil, "decline"), ("decline", "decline"), ("cancel", "cancel")] as [(String?, String)]
    )
    func refused(option: String?, action: String) async throws {
        try await withForm { _, device, question in
            let decided: Approval = try await decide(device, question, option).result()
            #expect(decided.state == .rejected && decided.option == action)
            #expect(try await answer(of: question, device) == #"elicited: {"action": "\#(action)"}"#)
        }
    }

    @Test("Nobody answers: the agent is told that it was declined")
    func expired() async throws {
        try await withForm(timeout: .milliseconds(300)) { host, device, question in
            #expect(try await answer(of: question, device) == #"elicited: {"action": "decline"}"#)
            let last = try await device.get("/companion/approvals/\(question.id)").decoded(ApprovalResponse.self)
            #expect(last.approval.state == .expired)
        }
    }

    @Test("A secret is asked of nobody")
    func secret() async throws {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory)
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
            } _: { host, device in
                try await device.pair()
                let prompt =
                    #"elicit {"mode":"form","message":"m","requestedSchema":{"properties":{"apiKey":{"type":"string"}}}}"#
                let turn = try await device.startTurn(prompt, model: "fake")
                let reply = try await device.events(chat: turn.chat, turn: turn.turn)
                #expect(reply.body.contains(#"elicited: {\"action\": \"decline\"}"#), "\(reply.body)")
                #expect(reply.body.contains("The agent asked for a secret (“apiKey”) in a form: declined."))
                #expect(try await device.get("/companion/approvals?all=1").body.contains(#""approvals":[]"#))
                let row = try await host.server.administration.audit.rows().last
                #expect(row?.detail["by"] == "The host" && row?.detail["outcome"] == "rejected")
            }
        }
    }

    @Test("A page that was opened is accepted without values, and the readers hear that the agent is done with it")
    func page() async throws {
        let prompt = #"elicit {"mode":"url","elicitationId":"e","url":"https://login.example/a","message":"Sign in"}"#
        try await withForm(prompt) { _, device, question in
            let whole = try await device.get("/companion/approvals/\(question.id)").decoded(ApprovalResponse.self)
            #expect(whole.approval.link == "https://login.example/a" && whole.approval.kind == "link")
            let wrong = try await decide(device, question, "accept", ["x": 1])
            #expect(wrong.status == 400 && wrong.body.contains("The agent asks for no values"), "\(wrong)")
            _ = try await decide(device, question, "accept").outcome()
            let reply = try await device.events(chat: question.chatId, turn: question.turnId)
            #expect(reply.body.contains(#"elicited: {\"action\": \"accept\"}"#), "\(reply.body)")
            #expect(reply.body.contains("The agent is done with the page that was opened"))
        }
    }

    /// The forms of a host without anything else of it.
    private static func questions(
        in directory: String
    ) throws -> (database: HostDatabase, events: HostEventSink, questions: AgentQuestions) {
        let clock = TestClock()
        let database = try HostDatabase(path: directory + "/host.sqlite")
        let events = HostEventSink(live: LiveEventBroadcaster(clock: clock.hostClock))
        let questions = try AgentQuestions(
            database: database,
            clock: clock.hostClock,
            timeout: .seconds(1800),
            events: events,
            logger: .silent
        )
        return (database, events, questions)
    }

    private static let asked = AgentQuestion.form(
        ProposedForm(message: "m", request: .form(ApprovalForm(fields: [FormField("n", type: "integer")])))
    )

    @Test("In a thousand races of two devices and the owner, one answer counts, and it is the one that the agent gets")
    func races() async throws {
        try await withTemporaryDirectory { directory in
            let (database, events, questions) = try Self.questions(in: directory)
            defer { database.close() }
            var asked = events.stream.compactMap { event -> String? in
                if case .questionAsked(let question) = event { question.id } else { nil }
            }.makeAsyncIterator()
            let devices = ["a", "b"].map { CompanionDevice(id: $0, name: $0, pairedAt: nil, lastSeenAt: nil) }
            let answers: [(QuestionDecider, ApprovalAnswer)] = [
                (QuestionDecider(devices[0]), .filled(["n": 1])), (QuestionDecider(devices[1]), .filled(["n": 2])),
                (.owner, .reject(always: false, reason: nil)),
            ]
            for round in 0..<1000 {
                let turn = AgentTurn(id: "t", chatID: "c", prompt: "p", directory: "/p")
                let got = Task { await questions.ask(Self.asked, turn: turn) { _ in } }
                let id = try #require(await asked.next())
                let winners = await withTaskGroup(of: ApprovalAnswer?.self) { group in
                    for (decider, answer) in answers[(round % 3)...] + answers[..<(round % 3)] {
                        group.addTask {
                            (try? await questions.decide(id, with: answer, by: decider)).map { _ in answer }
                        }
                    }
                    var winners: [ApprovalAnswer] = []
                    for await answer in group { if let answer { winners.append(answer) } }
                    return winners
                }
                #expect(winners.count == 1)
                let wanted = winners[0] == answers[2].1 ? ApprovalAnswer.option("decline") : winners[0]
                #expect(await got.value == wanted)
            }
        }
    }

    @Test("A form that is open when the host ends is not answered later, and its agent gets nothing")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let (database, events, questions) = try Self.questions(in: directory)
            let turn = AgentTurn(id: "t", chatID: "c", prompt: "p", directory: "/p")
            let got = Task { await questions.ask(Self.asked, turn: turn) { _ in } }
            var id = ""
            for await event in events.stream {
                guard case .questionAsked(let question) = event else { continue }
                id = question.id
                break
            }
            database.close()
            got.cancel()
            #expect(await got.value != .filled([:]))
            let (next, _, later) = try Self.questions(in: directory)
            defer { next.close() }
            let found = try #require(try await later.question(id: id))
            #expect(found.state == .interrupted && found.form?.fields.map(\.name) == ["n"])
            let error = await #expect(throws: HostError.self) {
                try await later.decide(id, with: .filled(["n": 1]), by: .owner)
            }
            #expect(error?.text == "The host was restarted: the agent that asked is gone")
        }
    }
}
