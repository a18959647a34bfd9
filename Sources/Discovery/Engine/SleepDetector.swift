/// Notices that this program did not run for a while: the machine was suspended, or the process was stopped.
///
/// Hosts may have come and gone in that time, and mDNS queries again only after up to an hour (RFC 6762, section 5.2).
/// After a sleep, query again at once.
package struct SleepDetector: Sendable {
    /// How often to look at the clock.
    package static let period = Duration.seconds(2)
    /// How late a look may be on a busy machine that has not slept.
    package static let tolerance = Duration.seconds(4)

    private var last: ContinuousClock.Instant

    /// - Parameter now: The beginning of the first period.
    package init(at now: ContinuousClock.Instant) {
        last = now
    }

    /// Notes that a period is over.
    ///
    /// - Parameter now: By a clock that goes on during a suspend, as `ContinuousClock` does.
    /// - Returns: How long the program slept; nil if it did not.
    package mutating func periodPassed(at now: ContinuousClock.Instant) -> Duration? {
        let late = last.duration(to: now) - Self.period
        last = now
        return late > Self.tolerance ? late : nil
    }

    /// Waits until the program has slept. Returns nil when the task was cancelled.
    static func waitForSleep() async -> DiscoveryError? {
        let clock = ContinuousClock()
        var detector = SleepDetector(at: clock.now)
        while (try? await clock.sleep(for: period)) != nil {
            guard let slept = detector.periodPassed(at: clock.now) else { continue }
            return DiscoveryError(
                .engineLost,
                message: "this program was asleep for \(slept.components.seconds) seconds"
            )
        }
        return nil
    }
}
