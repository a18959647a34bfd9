package import CompanionWire

/// Answers a request by itself, and does not give up while the host cannot be reached: without an answer, the agent would
/// wait until the time for it is over.
package struct PersistentDecision: Sendable {
    let approvals: any ApprovalDeciding
    let firstWait: Duration
    let longestWait: Duration
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - firstWait: Before the second try; twice as long before each further one. Default: 1 s.
    ///   - longestWait: Default: 30 s.
    package init(
        approvals: any ApprovalDeciding,
        firstWait: Duration = .seconds(1),
        longestWait: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.approvals = approvals
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.clock = clock
    }

    /// Decides, unless the request waits no more.
    ///
    /// - Parameter failed: Called when the host could not be reached for the first time.
    /// - Throws: ``CompanionClientError`` that another try does not mend; `CancellationError`.
    package func run(
        isolation: isolated (any Actor)? = #isolation,
        id: String,
        answer: ApprovalAnswer,
        failed: (CompanionClientError) -> Void
    ) async throws {
        var wait = firstWait
        var hasFailed = false
        while true {
            do {
                guard let approval = try await approvals.approval(id: id)?.approval, approval.isPending else { return }
                _ = try await approvals.decide(approval, with: answer)
                return
            } catch let error as CompanionClientError where Self.passes(error) {
                if !hasFailed { failed(error) }
                hasFailed = true
                try await clock.sleep(for: wait)
                wait = min(wait * 2, longestWait)
            }
        }
    }

    private static func passes(_ error: CompanionClientError) -> Bool {
        [.unreachable, .timedOut, .streamInterrupted, .server, .badAnswer].contains(error.code)
    }
}
