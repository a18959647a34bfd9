import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers
import Testing

/// What follows a decision, and what is tried again, at a host that does what a test says.
@Suite("Decisions of requests", .timeLimit(.minutes(15)))
struct ApprovalDecisionTests {
    /// A host with one request, whose calls may fail first.
    private final class ScriptedHost: ApprovalDeciding {
        struct State: Sendable {
            var approval = Approval(id: "a", title: "Run it")
            var failures: [CompanionClientError] = []
            var calls: [String] = []
        }

        let state = NIOLockedValueBox(State())
        let place = "here"
        let news: AsyncStream<ApprovalNews>
        let tell: AsyncStream<ApprovalNews>.Continuation

        init(failures: [CompanionClientError] = []) {
            state.withLockedValue { $0.failures = failures }
            (news, tell) = AsyncStream.makeStream()
        }

        private func call(_ name: String) throws -> Approval {
            try state.withLockedValue { state in
                state.calls.append(name)
                if !state.failures.isEmpty { throw state.failures.removeFirst() }
                return state.approval
            }
        }

        func approvals(all: Bool) async throws -> ApprovalList {
            let approval = try call("list")
            return ApprovalList(approvals: approval.isPending ? [approval] : [], unreadable: 0)
        }

        func approval(id: String) async throws -> ApprovalResponse? {
            ApprovalResponse(approval: try call("read"), mayDecide: true, mayAlways: false)
        }

        func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws -> DecidedApproval {
            _ = try call("decide")
            return state.withLockedValue { state in
                state.approval.state = answer == .allow(always: false) ? .approved : .rejected
                return DecidedApproval(state.approval)
            }
        }

        func awaitNews(_ tell: (ApprovalNews) -> Void) async throws {
            for await news in news { tell(news) }
        }
    }

    private static let lost = CompanionClientError(.unreachable, message: "No route")

    @Test("What the command line says is answered also if the host cannot be reached for a while, and warned of once")
    func persists() async throws {
        let host = ScriptedHost(failures: [Self.lost, Self.lost, CompanionClientError(.server, message: "Busy")])
        let warnings = NIOLockedValueBox(0)
        let clock = ImmediateClock()
        try await PersistentDecision(approvals: host, clock: clock).run(
            id: "a",
            answer: .reject(always: false, reason: nil)
        ) { _ in
            warnings.withLockedValue { $0 += 1 }
        }
        #expect(host.state.withLockedValue { $0.approval.state } == Approval.State.rejected)
        #expect(warnings.withLockedValue { $0 } == 1)
        #expect(clock.now.offset == .seconds(1 + 2 + 4), "ever longer waits")
    }

    @Test("What another try does not mend is not tried again")
    func givesUp() async throws {
        let host = ScriptedHost(failures: [CompanionClientError(.forbidden, message: "Not you")])
        let error = await #expect(throws: CompanionClientError.self) {
            try await PersistentDecision(approvals: host, clock: ImmediateClock()).run(
                id: "a",
                answer: .allow(always: false)
            ) {
                _ in
            }
        }
        #expect(error?.code == .forbidden)
        #expect(host.state.withLockedValue { $0.calls } == ["read"])
    }

    @Test("After an approval, the host is asked until the agent goes on, or five seconds are over")
    func continuation() async throws {
        let clock = ImmediateClock()
        let asked = NIOLockedValueBox(0)
        let time = Date(timeIntervalSince1970: 7)
        let seen = try await ContinuationWait(clock: clock).run {
            let count = asked.withLockedValue { asked in
                asked += 1
                return asked
            }
            // A lost answer is not the end.
            if count == 2 { throw Self.lost }
            return count == 4 ? time : nil
        }
        #expect(seen == time && clock.now.offset == .milliseconds(750))
        let never = try await ContinuationWait(clock: clock).run { nil }
        #expect(never == nil && clock.now.offset == .milliseconds(750 + 4750))
    }

    @Test("A watch tells of the agent that goes on, once, and not of one whose request it never saw")
    func watch() async throws {
        let host = ScriptedHost()
        let events = NIOLockedValueBox<[String]>([])
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
            try await ApprovalWatch(approvals: host, interval: .seconds(3600), clock: ImmediateClock()).run { event in
                switch event {
                case .added(let approval):
                    events.withLockedValue { $0.append("added \(approval.id)") }
                    host.state.withLockedValue { $0.approval.state = .approved }
                    // In one go: the watch looks once for all of it.
                    for id in ["other", "a", "a"] { host.tell.yield(.continued(id)) }
                case .decided(let approval): events.withLockedValue { $0.append("decided \(approval.state.rawValue)") }
                case .continued(let approval):
                    events.withLockedValue { $0.append("continued \(approval.id)") }
                    throw Enough()
                default: break
                }
            }
        }
        #expect(events.withLockedValue { $0 } == ["added a", "decided approved", "continued a"])
    }
}
