import CompanionWire
package import FoundationEssentials

/// Waits a moment after an approval, for the host's word that the agent went on.
package struct ContinuationWait: Sendable {
    let tries: Int
    let interval: Duration
    let clock: any Clock<Duration>

    /// - Parameters:
    ///   - tries: How often the host is asked.
    ///   - interval: Between two times. By default, 5 s pass in all, also if the host does not answer.
    package init(
        tries: Int = 20,
        interval: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.tries, self.interval, self.clock) = (tries, interval, clock)
    }

    /// Asks until the agent went on, or the time is over. An error counts as no answer: the decision is made anyway.
    ///
    /// - Parameter state: Asks the host when the agent went on.
    /// - Returns: When that was; nil if the host has not said so in time.
    /// - Throws: `CancellationError`.
    package func run(_ state: @escaping @Sendable () async throws -> Date?) async throws -> Date? {
        try await withTimeLimit(interval * tries) { () async throws -> Date? in
            for number in 0..<tries {
                if number > 0 { try await clock.sleep(for: interval) }
                if let time = try? await state() { return time }
                try Task.checkCancellation()
            }
            return nil
        } ?? nil
    }
}
