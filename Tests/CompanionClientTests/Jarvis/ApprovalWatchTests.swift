import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct PendingApprovalsTests {
    private static func approval(_ id: JarvisApprovalID, _ state: Approval.State = .open) -> Approval {
        Approval(id: id.description, title: "", state: state)
    }

    @Test("New requests are told once, missing ones until it is known what became of them")
    func changes() {
        var pending = PendingApprovals()
        let (deploy, mail) = (Self.approval(.deploy), Self.approval(.mail))
        var change = pending.take([deploy, mail])
        #expect(change.new == [deploy, mail] && change.missing.isEmpty)
        change = pending.take([mail, deploy])
        #expect(change.new.isEmpty && change.missing.isEmpty)
        #expect(pending.take([mail]).missing == [deploy])
        // A list that was behind: it still waits.
        let news1 = pending.settle(deploy.id, as: deploy)
        #expect(!news1)
        #expect(pending.take([mail]).missing == [deploy])
        let news2 = pending.settle(deploy.id, as: Self.approval(.deploy, .approved))
        #expect(news2)
        let news3 = pending.settle(deploy.id, as: Self.approval(.deploy, .approved))
        #expect(!news3)
        #expect(pending.take([mail]).missing.isEmpty)
        let news4 = pending.settle(mail.id, as: nil)
        #expect(news4)
        #expect(pending.take([]).missing.isEmpty)
    }
}

@Suite struct ApprovalWatchTests {
    private struct Enough: Error {}

    private static func approvals(_ client: JarvisClient) -> JarvisApprovals {
        JarvisApprovals(client: client) { try await client.decide($0, with: $1) }
    }

    /// Watches until a body has seen enough.
    private func watch(
        _ client: JarvisClient,
        _ body: (inout [ApprovalWatch.Event]) -> Bool
    ) async throws -> [ApprovalWatch.Event] {
        var events: [ApprovalWatch.Event] = []
        do {
            try await ApprovalWatch(approvals: Self.approvals(client), clock: ImmediateClock()).run { event in
                events.append(event)
                if body(&events) { throw Enough() }
            }
        } catch is Enough {}
        return events
    }

    @Test("What waits is told at first, then what comes, what is decided, and what is gone")
    func events() async throws {
        try await withJarvis { jarvis, client in
            let events = try await watch(client) { events in
                switch events.count {
                case 3: jarvis.decide(FakeJarvisScript.mail, "rejected")
                case 4: jarvis.change { $0.approvals.removeAll { $0.id == FakeJarvisScript.deploy } }
                case 5:
                    jarvis.change {
                        $0.approvals.append(
                            FakeJarvisApproval(
                                id: FakeJarvisScript.deploy,
                                action: "Deploy",
                                reason: "",
                                requestedBy: "",
                                requestedAt: ""
                            )
                        )
                    }
                default: break
                }
                return events.count == 6
            }
            #expect(events.map(Self.word) == ["added", "added", "added", "decided rejected", "gone", "added"])
        }
    }

    @Test("A daemon that fails is asked again, and what happened meanwhile is told")
    func interruption() async throws {
        try await withJarvis { jarvis, client in
            let events = try await watch(client) { events in
                if events.count == 3 {
                    jarvis.change { $0.faults = [FakeJarvisFault(.reset, on: "/approval", times: 6)] }
                    jarvis.decide(FakeJarvisScript.mail, "approved")
                }
                return events.last.map(Self.word) == "resumed"
            }
            #expect(events.map(Self.word).dropFirst(3) == ["interrupted", "decided approved", "resumed"])
        }
    }

    @Test("The first look fails as any command does")
    func firstLook() async throws {
        try await withJarvis(.fault(.page(status: 200))) { _, client in
            let error = try await clientError { try await watch(client) { _ in true } }
            #expect(error.code == .notACompanion)
        }
    }

    @Test("Waits double from one failure to the next, up to a minute")
    func waits() async throws {
        try await withJarvis { _, client in
            let watch = ApprovalWatch(approvals: Self.approvals(client))
            #expect([0, 1, 2, 4, 5, 100].map(watch.wait) == [2, 4, 8, 32, 60, 60].map(Duration.seconds))
        }
    }

    // MARK: Two base URLs

    /// Runs a body with a client whose daemon does not answer at its local address, but at the second base URL.
    private func withSecond(
        _ first: FakeJarvis,
        _ body: (FakeJarvis, JarvisClient) async throws -> Void
    ) async throws {
        try await withFakeJarvis { second in
            let endpoint = try #require(CompanionEndpoint(first.endpointText))
            let base = try #require(JarvisBase(fallback: "http://\(second.endpointText)"))
            try await JarvisClient.withClient(endpoint: endpoint, fallback: base) { client in
                #expect(client.base == base)
                try await body(second, client)
            }
        }
    }

    @Test(
        "While the second base URL is in use, every tenth look tries the local one, and goes on there",
        .timeLimit(.minutes(15))
    )
    func returnsHome() async throws {
        // Each try is made of two requests, for the first one's connection breaks. Two are those of the beginning.
        try await withFakeJarvis(.fault(.reset, on: "/health", times: 2 + 3 * 2)) { first in
            try await withSecond(first) { second, client in
                let events = try await watch(client) { events in
                    if events.last.map(Self.word) == "moved" { first.decide(FakeJarvisScript.mail, "rejected") }
                    return events.count == 5
                }
                #expect(events.map(Self.word) == ["added", "added", "added", "moved", "decided rejected"])
                #expect(events.contains(.moved("\(client.local)")) && client.base == client.local)
                // The first look, and 39 of the 40 behind it.
                #expect(second.requests("GET", "/approval/pending").count == 40)
                #expect(first.requests("GET", "/approval/pending").count == 1)
            }
        }
    }

    @Test("A daemon that is started at its local address later is found there", .timeLimit(.minutes(15)))
    func opensLater() async throws {
        let port = try await withFakeJarvis { $0.port }
        try await withFakeJarvis { second in
            let endpoint = try #require(CompanionEndpoint("127.0.0.1:\(port)"))
            let base = try #require(JarvisBase(fallback: "http://\(second.endpointText)"))
            try await JarvisClient.withClient(endpoint: endpoint, fallback: base) { client in
                let (events, sink) = AsyncStream<ApprovalWatch.Event>.makeStream()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    defer { group.cancelAll() }
                    group.addTask {
                        try await ApprovalWatch(approvals: Self.approvals(client), clock: ImmediateClock()).run {
                            sink.yield($0)
                        }
                    }
                    var next = events.makeAsyncIterator()
                    for _ in 0..<3 { #expect(await next.next().map(Self.word) == "added") }
                    try await withFakeJarvis(port: port) { first in
                        #expect(await next.next() == .moved("\(client.local)"))
                        first.decide(FakeJarvisScript.deploy, "approved")
                        #expect(await next.next().map(Self.word) == "decided approved")
                    }
                }
            }
        }
    }

    @Test("What is no daemon at the local address changes nothing")
    func stranger() async throws {
        try await withFakeJarvis(.fault(.reset, on: "/health", times: 2)) { first in
            try await withSecond(first) { _, client in
                first.change { $0.faults = [FakeJarvisFault(.page(status: 200))] }
                let isBack = try await client.returnToLocal()
                #expect(!isBack && client.usesFallback)
                let pending = try await client.pending()
                #expect(pending.approvals.count == 3)
            }
        }
    }

    @Test("A decision that has begun at one base URL ends there")
    func decisionStays() async throws {
        try await withFakeJarvis(.fault(.reset, on: "/health", times: 2)) { first in
            try await withSecond(first) { second, client in
                second.change {
                    $0.faults = [FakeJarvisFault(.silence(gate: "state"), on: "/approval/status", times: 1)]
                }
                async let receipt = client.decide(.deploy, with: .allow(always: false))
                try await second.reached("state")
                let isBack = try await client.returnToLocal()
                #expect(isBack)
                second.release("state")
                let status = try await receipt.status
                #expect(status == .approved)
                #expect(second.status(of: FakeJarvisScript.deploy) == "approved")
                #expect(first.requests("POST", "/").isEmpty)
            }
        }
    }

    private static func word(_ event: ApprovalWatch.Event) -> String {
        switch event {
        case .added: "added"
        case .decided(let approval): "decided \(approval.state.rawValue)"
        case .continued: "continued"
        case .gone: "gone"
        case .interrupted: "interrupted"
        case .resumed: "resumed"
        case .moved: "moved"
        }
    }
}
