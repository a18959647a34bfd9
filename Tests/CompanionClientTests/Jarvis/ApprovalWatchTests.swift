import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

@testable import CompanionClient

@Suite struct ApprovalBoardTests {
    private static func approval(_ id: JarvisApprovalID) throws -> JarvisApproval {
        try JSONDecoder().decode(JarvisApproval.self, from: Data(#"{"id":"\#(id)"}"#.utf8))
    }

    @Test("New requests are told once, missing ones until it is known what became of them")
    func changes() throws {
        var board = ApprovalBoard()
        let (deploy, mail) = (try Self.approval(.deploy), try Self.approval(.mail))
        var change = board.take([deploy, mail])
        #expect(change.new == [deploy, mail] && change.missing.isEmpty)
        change = board.take([mail, deploy])
        #expect(change.new.isEmpty && change.missing.isEmpty)
        #expect(board.take([mail]).missing == [deploy])
        // A list that was behind: it still waits.
        #expect(board.settle(.deploy, as: .pending) == nil)
        #expect(board.take([mail]).missing == [deploy])
        #expect(board.settle(.deploy, as: .approved) == deploy)
        #expect(board.settle(.deploy, as: .approved) == nil)
        #expect(board.take([mail]).missing.isEmpty)
        #expect(board.settle(.mail, as: nil) == mail)
        #expect(board.take([]).missing.isEmpty)
    }
}

@Suite struct ApprovalWatchTests {
    private struct Enough: Error {}

    /// Watches until a body has seen enough.
    private func watch(
        _ client: JarvisClient,
        _ body: (inout [ApprovalWatch.Event]) -> Bool
    ) async throws -> [ApprovalWatch.Event] {
        var events: [ApprovalWatch.Event] = []
        do {
            try await ApprovalWatch(client: client, clock: ImmediateClock()).run { event in
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
            let watch = ApprovalWatch(client: client)
            #expect([0, 1, 2, 4, 5, 100].map(watch.wait) == [2, 4, 8, 32, 60, 60].map(Duration.seconds))
        }
    }

    private static func word(_ event: ApprovalWatch.Event) -> String {
        switch event {
        case .added: "added"
        case .decided(_, let state): "decided \(state.status)"
        case .gone: "gone"
        case .interrupted: "interrupted"
        case .resumed: "resumed"
        }
    }
}
