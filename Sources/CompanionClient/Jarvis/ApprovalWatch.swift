/// Watches a daemon, which tells nothing by itself: asks it again and again, and gives the differences.
package struct ApprovalWatch: Sendable {
    package enum Event: Sendable, Hashable {
        /// A request waits for a decision.
        case added(JarvisApproval)
        /// It was decided, here or elsewhere.
        case decided(JarvisApproval, JarvisApprovalState)
        /// The daemon has it no more.
        case gone(JarvisApproval)
        /// The daemon does not answer; it is asked again, at ever longer intervals.
        case interrupted(String)
        /// It answers again.
        case resumed(JarvisBase)
        /// It answers at its local address again, and is asked there and no more at the second base URL.
        case moved(JarvisBase)
    }

    /// While the second base URL is in use, the local one is tried before every tenth look.
    private static let looksBetweenReturns = 10

    let client: JarvisClient
    let interval: Duration
    let longestWait: Duration
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - interval: Between two looks. Default: 2 s.
    ///   - longestWait: Between two tries with a daemon that does not answer. Default: 60 s.
    package init(
        client: JarvisClient,
        interval: Duration = .seconds(2),
        longestWait: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.client = client
        self.interval = interval
        self.longestWait = longestWait
        self.clock = clock
    }

    /// Watches until the task is cancelled.
    ///
    /// - Throws: What the first look throws, what `take` throws, and what is not mended by waiting.
    package func run(
        isolation: isolated (any Actor)? = #isolation,
        _ take: (Event) async throws -> Void
    ) async throws -> Never {
        var pending = PendingApprovals()
        try await look(&pending, take)
        var failures = 0
        var looks = 0
        while true {
            try await clock.sleep(for: wait(after: failures))
            looks += 1
            do {
                if failures > 0 {
                    try await client.locate()
                } else if looks.isMultiple(of: Self.looksBetweenReturns), try await client.returnToLocal() {
                    try await take(.moved(client.base))
                }
                try await look(&pending, take)
                if failures > 0 { try await take(.resumed(client.base)) }
                failures = 0
            } catch let error as CompanionClientError where Self.passes(error) {
                if failures == 0 { try await take(.interrupted(error.description)) }
                failures += 1
            }
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
        _ pending: inout PendingApprovals,
        _ take: (Event) async throws -> Void
    ) async throws {
        let (new, missing) = pending.take(try await client.pending().approvals)
        // First what is known already: where asking for the others fails, they are asked for again.
        for approval in new { try await take(.added(approval)) }
        for approval in missing {
            let state = try await client.state(of: approval.id)
            guard pending.settle(approval.id, as: state?.status) != nil else { continue }
            if let state { try await take(.decided(approval, state)) } else { try await take(.gone(approval)) }
        }
    }
}
