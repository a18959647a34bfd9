package import CompanionWire
import NIOConcurrencyHelpers

/// Watches the requests of a host and reports the differences. It reads them when the host announces a change, or at
/// intervals if the host announces none.
package struct ApprovalWatch: Sendable {
    /// A change of a request, or of the connection to the host.
    package enum Event: Sendable, Hashable {
        /// A request waits for a decision.
        case added(Approval)
        /// It was decided, here or elsewhere.
        case decided(Approval)
        /// The agent went on after the decision.
        case continued(Approval)
        /// The host no longer has it.
        case gone(Approval)
        /// The host does not answer; it is asked again, at ever longer intervals.
        case interrupted(String)
        /// It answers again, at this place.
        case resumed(String)
        /// From now on it is asked at this place.
        case moved(String)
    }

    let approvals: any ApprovalDeciding
    let interval: Duration
    let longestWait: Duration
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - interval: Between two looks at a host that tells nothing by itself. Default: 2 s.
    ///   - longestWait: Between two tries with a host that does not answer. Default: 60 s.
    package init(
        approvals: any ApprovalDeciding,
        interval: Duration = .seconds(2),
        longestWait: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.approvals = approvals
        self.interval = interval
        self.longestWait = longestWait
        self.clock = clock
    }

    /// Watches until the task is cancelled.
    ///
    /// - Throws: Errors of the first request, of `take`, and those that waiting cannot fix.
    package func run(
        isolation: isolated (any Actor)? = #isolation,
        _ take: (Event) async throws -> Void
    ) async throws -> Never {
        var pending = PendingApprovals()
        try await look(at: &pending, take)
        let continued = NIOLockedValueBox<Set<ByteText>>([])
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        async let _: Void = awaitNews(signal, continued: continued)
        var news = signals.makeAsyncIterator()
        var failures = 0
        var looks = 0
        while true {
            // A host that does not answer tells nothing either.
            let isTold = if failures == 0 { await news.next(isolation: isolation) != nil } else { false }
            if !isTold { try await clock.sleep(for: wait(after: failures)) }
            looks += 1
            do {
                if try await approvals.prepareLook(looks, failures: failures) {
                    try await take(.moved(approvals.place))
                }
                // Taken before the look, which finds their decisions then.
                let ids = continued.withLockedValue { $0 }
                try await look(at: &pending, take)
                continued.withLockedValue { $0.subtract(ids) }
                for approval in pending.takeContinued(ids) { try await take(.continued(approval)) }
                if failures > 0 { try await take(.resumed(approvals.place)) }
                failures = 0
            } catch let error as CompanionClientError where Self.passes(error) {
                if failures == 0 { try await take(.interrupted(error.description)) }
                failures += 1
            }
        }
    }

    /// Passes on what the host tells. Where that ends, looks at intervals show why.
    private func awaitNews(
        _ signal: AsyncStream<Void>.Continuation,
        continued: NIOLockedValueBox<Set<ByteText>>
    ) async {
        defer { signal.finish() }
        try? await approvals.awaitNews { news in
            if case .continued(let id) = news { continued.withLockedValue { _ = $0.insert(ByteText(id)) } }
            signal.yield()
        }
    }

    /// How long to wait: twice as long after each failure.
    func wait(after failures: Int) -> Duration {
        max(interval, min(interval * (1 << min(failures, 16)), longestWait))
    }

    private static func passes(_ error: CompanionClientError) -> Bool {
        [.unreachable, .timedOut, .server, .badAnswer, .tooLarge].contains(error.code)
    }

    private func look(
        isolation: isolated (any Actor)? = #isolation,
        at pending: inout PendingApprovals,
        _ take: (Event) async throws -> Void
    ) async throws {
        let (new, missing) = pending.take(try await approvals.approvals(all: false).approvals)
        // First what is known already: where asking for the others fails, they are asked for again.
        for approval in new { try await take(.added(approval)) }
        for approval in missing {
            let now = try await approvals.state(of: approval)
            guard pending.settle(approval.id, as: now) else { continue }
            if let now { try await take(.decided(now)) } else { try await take(.gone(approval)) }
        }
    }
}
