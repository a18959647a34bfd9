import CompanionClient
import CompanionTestSupport
import CompanionWire
import Testing

@Suite struct JarvisDecisionTests {
    @Test(
        "A decision is sent once, after the request's state was read; approving has no body, rejecting has the reason"
    )
    func decisions() async throws {
        try await withJarvis { jarvis, client in
            let approved = try await client.decide(.deploy, with: .allow(always: false))
            let rejected = try await client.decide(.mail, with: .reject(always: false, reason: "not \"today\""))
            #expect(approved.status == .approved && rejected.status == .rejected)
            #expect(
                jarvis.requests.map { "\($0.method) \($0.path)" } == [
                    "GET /api/v1/approval/status/\(FakeJarvisScript.deploy)",
                    "POST /api/v1/approval/approve/\(FakeJarvisScript.deploy)",
                    "GET /api/v1/approval/status/\(FakeJarvisScript.deploy)",
                    "GET /api/v1/approval/status/\(FakeJarvisScript.mail)",
                    "POST /api/v1/approval/reject/\(FakeJarvisScript.mail)",
                    "GET /api/v1/approval/status/\(FakeJarvisScript.mail)",
                ]
            )
            #expect(jarvis.requests[1].body.isEmpty)
            #expect(jarvis.requests[4].text == #"{"reason":"not \"today\""}"#)
            #expect(jarvis.requests[4].header("Content-Type") == "application/json")
            #expect(jarvis.status(of: FakeJarvisScript.deploy) == "approved")
        }
    }

    @Test("Where somebody else decides after a decision was taken, what won is told")
    func overruled() async throws {
        let faster = FakeJarvisFault.Kind.decidesFirst(id: FakeJarvisScript.deploy, status: "rejected")
        let script = FakeJarvisScript.with {
            $0.faults = [
                // The look before the decision is answered as it should be.
                FakeJarvisFault(.drip, on: "/approval/status", times: 1),
                FakeJarvisFault(faster, on: "/approval/status"),
            ]
        }
        try await withJarvis(script) { jarvis, client in
            let error = try await decisionError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .overruled && error.status == .rejected, "\(error)")
            #expect(error.description.contains("someone else decided first"))
            #expect(jarvis.requests("POST", "/").count == 1)
        }
    }

    @Test("A request that is decided is not decided again", arguments: ["approved", "rejected", "expired"])
    func alreadyDecided(status: String) async throws {
        try await withJarvis { jarvis, client in
            jarvis.decide(FakeJarvisScript.deploy, status)
            let error = try await decisionError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .alreadyDecided && error.status?.rawValue == status)
            #expect(jarvis.requests("POST", "/").isEmpty)
        }
    }

    @Test("A request that is unknown, or vanishes at the last moment, is gone")
    func gone() async throws {
        try await withJarvis { jarvis, client in
            jarvis.change { $0.approvals.removeAll { $0.id == FakeJarvisScript.deploy } }
            let unknown = try await decisionError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(unknown.code == .gone && jarvis.requests("POST", "/").isEmpty)
            jarvis.change {
                $0.faults = [
                    FakeJarvisFault(.removesFirst(id: FakeJarvisScript.mail), on: "/approval/approve", times: 1)
                ]
            }
            let vanished = try await decisionError { try await client.decide(.mail, with: .allow(always: false)) }
            #expect(vanished.code == .gone && jarvis.requests("POST", "/").count == 1)
        }
    }

    @Test("A failure of the daemon is looked into: who was faster, or that nothing happened")
    func serverFailure() async throws {
        let broken = FakeJarvisFault.Kind.json(status: 500, #"{"error":true,"reason":"Something went wrong."}"#)
        let faster = FakeJarvisFault.Kind.decidesFirst(id: FakeJarvisScript.deploy, status: "rejected", then: broken)
        try await withJarvis(.fault(faster, on: "/approval/approve")) { jarvis, client in
            let error = try await decisionError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .alreadyDecided && error.status == .rejected)
            #expect(jarvis.requests("POST", "/").count == 1)
        }
        try await withJarvis(.fault(broken, on: "/approval/approve", times: 1)) { jarvis, client in
            let error = try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .server && jarvis.requests("POST", "/").count == 1)
            #expect(try await client.decide(.deploy, with: .allow(always: false)).status == .approved)
        }
    }

    @Test("An answer that is lost is looked for instead of asked for again")
    func lostAnswer() async throws {
        try await withJarvis(.fault(.losesAnswer, on: "/approval/approve")) { jarvis, client in
            let receipt = try await client.decide(.deploy, with: .allow(always: false))
            #expect(receipt.status == .approved && receipt.message == nil)
            #expect(jarvis.requests("POST", "/").count == 1)
        }
        try await withJarvis(.fault(.reset, on: "/approval/reject")) { jarvis, client in
            let error = try await clientError {
                try await client.decide(.deploy, with: .reject(always: false, reason: "no"))
            }
            #expect(error.code == .unreachable)
            #expect(jarvis.requests("POST", "/").count == 1 && jarvis.status(of: FakeJarvisScript.deploy) == "pending")
        }
    }

    @Test(
        "An answer that breaks off, or cannot be read, says nothing of the decision: the request does",
        arguments: [FakeJarvisFault.Kind.cutBody, .json(status: 200, #"{"status":"approved"}"#), .page(status: 404)]
    )
    func unreadableAnswer(fault: FakeJarvisFault.Kind) async throws {
        try await withJarvis(.fault(.obeys(then: fault), on: "/approval/approve")) { jarvis, client in
            let receipt = try await client.decide(.deploy, with: .allow(always: false))
            #expect(receipt.status == .approved && receipt.message == nil)
            #expect(jarvis.requests("POST", "/").count == 1)
        }
        try await withJarvis(.fault(fault, on: "/approval/approve")) { jarvis, client in
            _ = try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(jarvis.requests("POST", "/").count == 1 && jarvis.status(of: FakeJarvisScript.deploy) == "pending")
        }
    }

    @Test("A look at what became of a decision that fails is not taken again")
    func failingLook() async throws {
        let answer = #"{"id":"\#(FakeJarvisScript.deploy)","status":"rejected","message":"ok"}"#
        let script = FakeJarvisScript.with {
            $0.faults = [
                FakeJarvisFault(.json(status: 200, answer), on: "/approval/approve"),
                // The look before the decision is answered as it should be.
                FakeJarvisFault(.drip, on: "/approval/status", times: 1),
                FakeJarvisFault(.json(status: 500, #"{"error":true,"reason":"busy"}"#), on: "/approval/status"),
            ]
        }
        try await withJarvis(script) { jarvis, client in
            let error = try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .server)
            #expect(jarvis.requests("GET", "/approval/status").count == 2)
        }
    }

    @Test("Where the look at what became of a lost answer fails as well, the lost answer is what is told")
    func failingLookAfterLostAnswer() async throws {
        let script = FakeJarvisScript.with {
            $0.faults = [
                FakeJarvisFault(.losesAnswer, on: "/approval/approve"),
                // The look before the decision is answered as it should be.
                FakeJarvisFault(.drip, on: "/approval/status", times: 1),
                FakeJarvisFault(.json(status: 500, #"{"error":true,"reason":"busy"}"#), on: "/approval/status"),
            ]
        }
        try await withJarvis(script) { jarvis, client in
            let error = try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .unreachable && error.delivery == .unknown, "\(error)")
            #expect(jarvis.requests("POST", "/").count == 1)
            #expect(jarvis.requests("GET", "/approval/status").count == 2)
        }
    }

    @Test("Where the daemon is gone when it is asked again, what became of the decision is what is told")
    func goneDaemon() async throws {
        try await withClosedPort(isShared: true) { endpoint in
            let error = try await withThrowingTaskGroup(of: Void.self) { group in
                let (listening, hasBegun) = AsyncStream.makeStream(of: Void.self)
                group.addTask {
                    defer { hasBegun.finish() }
                    let script = FakeJarvisScript.fault(.silence(gate: "decision"), on: "/approval/approve")
                    try await withFakeJarvis(script, port: endpoint.port) { jarvis in
                        hasBegun.yield()
                        try await jarvis.reached("decision")
                    }
                }
                defer { group.cancelAll() }
                for await _ in listening { break }
                return try await JarvisClient.withClient(endpoint: endpoint) { client in
                    try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
                }
            }
            #expect(error.code == .unreachable && error.delivery == .unknown, "\(error)")
        }
    }

    @Test("A daemon that calls it something else, or answers about another request, is not believed")
    func contradiction() async throws {
        let answer = #"{"id":"\#(FakeJarvisScript.deploy)","status":"rejected","message":"ok"}"#
        try await withJarvis(.fault(.json(status: 200, answer), on: "/approval/approve")) { _, client in
            let error = try await decisionError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .undecided && error.status == .pending)
        }
        let other = #"{"id":"\#(FakeJarvisScript.mail)","status":"pending","action":"a"}"#
        try await withJarvis(.fault(.json(status: 200, other), on: "/approval/status")) { jarvis, client in
            let error = try await clientError { try await client.decide(.deploy, with: .allow(always: false)) }
            #expect(error.code == .badAnswer && jarvis.requests("POST", "/").isEmpty)
        }
    }

    @Test("Nothing that a client does has the daemon execute a command")
    func noExecution() async throws {
        try await withJarvis(.with { $0.approvals[0].action = "rm -rf /" }) { jarvis, client in
            _ = try await client.daemonHealth()
            _ = try await client.decide(.deploy, with: .allow(always: false))
            #expect(jarvis.requests.allSatisfy { !$0.path.contains("execute") })
        }
    }
}
