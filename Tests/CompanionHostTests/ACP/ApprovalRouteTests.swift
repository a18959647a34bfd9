import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// Questions of the agent, answered by paired devices.
@Suite("Questions that devices answer", .timeLimit(.minutes(15)))
struct ApprovalRouteTests {
    private func withQuestion<R: Sendable>(
        _ prompt: String = "ask",
        clock: HostClock = .system,
        always: Bool = false,
        permissions: [CompanionPermission] = CompanionPermission.all,
        _ body: (TestHost, TestDevice, Approval) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            let command = try FakeACPAgent.command(in: directory)
            return try await withHostAndDevice(in: directory, clock: clock) {
                $0.agent = .acp(ACPLaunch(id: "fake", name: "Fake", command: command))
                $0.devicesMayAlways = always
                $0.questionTimeout = .seconds(7200)
                $0.turnTimeout = .seconds(60)
            } _: { host, device in
                device.name = "Asker"
                try await device.pair(permissions: permissions)
                _ = try await device.startTurn(prompt, model: "fake")
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                return try await body(host, device, question)
            }
        }
    }

    private func reply(_ device: TestDevice, _ question: Approval, _ option: String?, _ clock: TestClock? = nil)
        async throws -> Reply
    {
        let payload = CommandPayload.approvalDecide(approvalID: question.id, optionID: option, content: nil)
        return try await device.command(payload, now: clock?.now ?? Date())
    }

    /// All that the turn of a question tells.
    private func frames(of question: Approval, _ device: TestDevice) async throws -> [TurnEvent] {
        let reply = try await device.events(chat: question.chatId, turn: question.turnId)
        var decoder = ContinueChatStreamDecoder(isNumbered: true)
        return try decoder.feed(reply.body.utf8).compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private func notices(in frames: [TurnEvent]) -> [ApprovalNotice] {
        frames.compactMap { if case .question(let notice) = $0 { notice } else { nil } }
    }

    @Test(
        "A question that nobody sees is answered an hour later by another device, and the turn's frames tell all of it"
    )
    func anHourLater() async throws {
        let clock = TestClock()
        try await withQuestion(clock: clock.hostClock) { host, asker, question in
            clock.advance(by: 3600)
            try await host.withDevice { other in
                other.name = "Laptop"
                try await other.pair()
                let listed = try await other.get("/companion/approvals").decoded(ApprovalsListResponse.self).approvals
                #expect(listed.elements.map(\.id) == [question.id] && listed.elements[0].arguments == nil)
                let whole = try await other.get("/companion/approvals/\(question.id)").decoded(ApprovalResponse.self)
                #expect(whole.approval.arguments?.hasPrefix("rm -r build\n") == true && !whole.mayAlways)
                let decided: Approval = try await reply(other, question, "y", clock).result()
                #expect(decided.state == .approved && decided.decidedBy == "Device “Laptop”")
                #expect(decided.arguments == nil)
                let frames = try await frames(of: question, other)
                let notices = notices(in: frames)
                #expect(notices.map(\.phase) == [.asked, .decided, .continued])
                #expect(notices.allSatisfy { $0.id == question.id && $0.title == "Run it" && $0.kind == "execute" })
                #expect(notices[1].decidedBy == "Device “Laptop”" && notices[1].answer == "Yes")
                #expect(notices[1].state == .approved)
                #expect(frames.contains(.status("Waiting for an answer: Run it")))
                #expect(frames.contains(.status("Device “Laptop” said “Yes” (approved)")))
                #expect(frames.contains(.text("chosen: y")))
                let rows = try await host.server.administration.audit.rows()
                #expect(rows.last?.kind == "question.decided" && rows.last?.device == other.id)
            }
        }
    }

    @Test(
        "An agent that ends its turn well after an answer went on, also silently; one that does not has not",
        arguments: [
            ("end_turn", true), ("max_tokens", true), ("cancelled", false), ("refusal", false), ("die", false),
        ]
    )
    func silentEnd(_ ending: String, wentOn: Bool) async throws {
        try await withQuestion("ask-then \(ending)") { host, asker, question in
            _ = try await reply(asker, question, "y").outcome()
            let frames = try await frames(of: question, asker)
            let phases: [ApprovalNotice.Phase] = [.asked, .decided] + (wentOn ? [.continued] : [])
            #expect(notices(in: frames).map(\.phase) == phases)
            let last = try #require(frames.last)
            #expect((last == .done(files: nil)) == wentOn, "\(last)")
        }
    }

    @Test("An answer that comes after the turn was cancelled is refused, and the agent gets no second one")
    func late() async throws {
        try await withQuestion("wait-asking") { host, asker, question in
            let cancelled = try await asker.execute(.chatCancel(chatID: question.chatId, turnID: question.turnId))
            #expect(cancelled.result["state"]?.string == "cancelled")
            let ended = try await host.event { if case .questionEnded(let question) = $0 { question } else { nil } }
            #expect(ended.id == question.id && ended.state == .cancelled)
            let late = try await reply(asker, question, "y")
            #expect(late.status == 409 && late.code == .approvalDecided)
            let told = try await frames(of: question, asker)
            #expect(notices(in: told).allSatisfy { $0.phase != .continued })
            #expect(told.last == .failed(TurnFailure(TurnRunner.cancelledText)))
            // The same process reads on: what it got before this prompt, it has noted.
            let sent = try await asker.execute(
                .chatSend(chatID: question.chatId, prompt: "recall", model: "fake", allowedTools: nil)
            )
            var next = question
            next.turnId = try #require(sent.result["turnId"]?.string)
            let recalled = try await frames(of: next, asker)
            #expect(recalled.contains(.text("wait-asking")))
            let text = try String(contentsOfFile: host.project + "/../answers", encoding: .utf8)
            let answers = text.split(separator: "\n")
            #expect(answers.count == 1 && answers[0].contains(#""outcome":"cancelled""#))
        }
    }

    @Test("The second answer gets 409 with who was first; a repetition of the first gets its result again")
    func second() async throws {
        try await withQuestion { host, asker, question in
            let command = try await asker.sign(.approvalDecide(approvalID: question.id, optionID: "n", content: nil))
            #expect(try await asker.send(command).outcome().replayed == false)
            #expect(try await asker.send(command).outcome().replayed == true)
            let late = try await reply(asker, question, "y")
            #expect(late.status == 409 && late.code == .approvalDecided)
            #expect(late.error == "Device “Asker” answered first: the question was rejected")
            var unknown = question
            unknown.id = "none"
            #expect(try await reply(asker, unknown, "y").code == .approvalUnknown)
            #expect(
                try await asker.get("/companion/approvals").decoded(ApprovalsListResponse.self).approvals.elements == []
            )
            let all = try await asker.get("/companion/approvals?all=1").decoded(ApprovalsListResponse.self)
            #expect(all.approvals.elements.map(\.state) == [.rejected])
        }
    }

    @Test("A device without the permission, a revoked one and version 1 are refused")
    func refused() async throws {
        try await withQuestion(permissions: CompanionPermission.beforePermissions) { host, asker, question in
            let without = try await reply(asker, question, "y")
            #expect(without.status == 403 && without.code == .permissionDenied)
            #expect(try await asker.get("/companion/approvals").status == 200, "reading needs none")
            // The owner grants it, and then takes the device away.
            #expect(try await host.server.administration.setPermissions(CompanionPermission.all, of: asker.id))
            #expect(try await host.server.administration.revoke(asker.id))
            let revoked = try await reply(asker, question, "y")
            #expect(revoked.status == 403 && revoked.code == .deviceRevoked)
            #expect(try await asker.get("/companion/approvals").code == .deviceRevoked)
            #expect(try await asker.send("GET", "/companion/approvals", version: nil).status == 426)
            let kept = try await host.server.administration.services.questions.question(id: question.id)
            #expect(kept?.option == nil)
        }
    }

    @Test("A device may answer for later questions too only if the host says so", arguments: [true, false])
    func always(isAllowed: Bool) async throws {
        try await withQuestion(always: isAllowed) { host, asker, question in
            let reply = try await reply(asker, question, "Y")
            #expect(reply.status == (isAllowed ? 200 : 403))
            guard !isAllowed else { return }
            #expect(reply.error?.contains("Only the host's owner") == true)
            let told = try await host.event { if case .alwaysRefused(_, let device) = $0 { device } else { nil } }
            #expect(told.name == "Asker")
        }
    }

    @Test(
        "A device rejects without naming an option, whatever the agent offers",
        arguments: [
            (#"[["y","Yes","allow_once"],["N","Never","reject_always"],["n","No","reject_once"]]"#, "n"),
            (#"[["y","Yes","allow_once"],["N","Never","reject_always"]]"#, "cancelled"),
            (#"[["y","Yes","allow_once"]]"#, "cancelled"),
        ]
    )
    func rejection(options: String, outcome: String) async throws {
        try await withQuestion("ask-options \(options)") { host, asker, question in
            let decided: Approval = try await reply(asker, question, nil).result()
            #expect(decided.state == .rejected && decided.decidedBy == "Device “Asker”")
            #expect(try await frames(of: question, asker).contains(.text("chosen: \(outcome)")))
        }
    }

    @Test("Questions in a project that is not listed any more are the owner's alone")
    func unlisted() async throws {
        try await withTemporaryDirectory { directory in
            let launch = ACPLaunch(id: "fake", name: "Fake", command: try FakeACPAgent.command(in: directory))
            let question = try await withHostAndDevice(in: directory) {
                $0.agent = .acp(launch)
            } _: { (host: TestHost, device: inout TestDevice) async throws -> Approval in
                try await device.pair()
                _ = try await device.startTurn("ask", model: "fake")
                let question = try await host.event { event in
                    if case .questionAsked(let question) = event { question } else { nil }
                }
                let listed = try await device.get("/companion/approvals").decoded(ApprovalsListResponse.self)
                #expect(listed.approvals.elements.map(\.id) == [question.id])
                return question
            }
            try FileManager.default.createDirectory(atPath: directory + "/other", withIntermediateDirectories: true)
            try await withHostAndDevice(in: directory) {
                $0.agent = .acp(launch)
                $0.projects = [directory + "/other"]
            } _: { (host: TestHost, device: inout TestDevice) async throws in
                try await device.pair()
                let listed = try await device.get("/companion/approvals?all=1").decoded(ApprovalsListResponse.self)
                #expect(listed.approvals.elements.isEmpty)
                let one = try await device.get("/companion/approvals/\(question.id)")
                #expect(one.status == 404 && one.code == .approvalUnknown)
                let decided = try await reply(device, question, "y")
                #expect(decided.status == 404 && decided.code == .approvalUnknown)
                var request = AdminRequest(.questions)
                request.all = true
                #expect(await host.server.administration.answer(request).questions?.map(\.id) == [question.id])
            }
        }
    }

    @Test("The live feed tells of a question, of its answer, and of the agent that goes on")
    func live() async throws {
        try await withQuestion { host, asker, question in
            try await LiveClient.with(host, token: asker.token) { client in
                _ = try await client.event(.hello)
                _ = try await reply(asker, question, "y").outcome()
                let decided = try await client.event(.approvalDecided)
                #expect(decided.approvalId == question.id && decided.chatId == question.chatId)
                #expect(decided.state == "approved" && decided.decidedBy == "Device “Asker”")
                #expect(decided.title == "Run it")
                let continued = try await client.event(.approvalContinued)
                #expect(continued.approvalId == question.id && continued.chatId == question.chatId)
                #expect(continued.turnId == question.turnId && continued.state == "approved")
                let now = try await asker.get("/companion/approvals/\(question.id)").decoded(ApprovalResponse.self)
                #expect(now.approval.continuedAt.map { $0 >= now.approval.decidedAt ?? .distantFuture } == true)
                _ = try await client.event(.turnFinished)
                let sent = try await asker.execute(
                    .chatSend(chatID: question.chatId, prompt: "ask", model: "fake", allowedTools: nil)
                )
                let asked = try await client.event(.approvalAsked)
                #expect(asked.turnId == sent.result["turnId"]?.string && asked.state == "open")
            }
        }
    }

    @Test("An agent's options are limited in number and length, and their names are cut")
    func limits() {
        func question(_ options: [JSONValue]) -> ACPQuestion? {
            ACPQuestion(key: 0, value: ["sessionId": "s", "toolCall": ["toolCallId": "t"], "options": .array(options)])
        }
        func option(_ id: String, name: String = "n") -> JSONValue {
            ["optionId": .string(id), "name": .string(name), "kind": "allow_once"]
        }
        #expect(question((0..<20).map { option("\($0)") })?.options.count == 20)
        #expect(question((0..<21).map { option("\($0)") }) == nil)
        #expect(question([option(String(repeating: "x", count: 257))]) == nil)
        let long = question([option("y", name: String(repeating: "é", count: 300))])
        #expect(long?.options.first?.name.unicodeScalars.count ?? 0 <= ACPQuestion.nameLength + 1)
    }

    @Test("A device that paired before permissions may not answer")
    func beforePermissions() {
        let device = PairedDevice(
            id: "d",
            name: "Old",
            publicKey: "",
            permissions: nil,
            expiresAt: nil,
            protocolVersion: 1,
            pairedAt: Date(),
            lastSeenAt: Date()
        )
        #expect(device.may(.chatSend) && !device.may(.approve))
    }
}
