package import FoundationEssentials

/// The time of day, as the pairing service and the stores see it.
package struct HostClock: Sendable {
    /// Returns the present time.
    package var now: @Sendable () -> Date
    /// Returns when the time has come, or throws `CancellationError`.
    package var sleepUntil: @Sendable (Date) async throws -> Void

    /// - Parameters:
    ///   - now: Returns the present time.
    ///   - sleepUntil: Returns when the time has come, or throws `CancellationError`.
    package init(now: @escaping @Sendable () -> Date, sleepUntil: @escaping @Sendable (Date) async throws -> Void) {
        self.now = now
        self.sleepUntil = sleepUntil
    }

    /// The system's clock. Sleeps look at it again every ten seconds: a workstation that was suspended, or whose
    /// clock was set, must not show an expired code for long.
    package static let system = HostClock(
        now: { Date() },
        sleepUntil: { deadline in
            while true {
                let rest = deadline.timeIntervalSinceNow
                guard rest > 0 else { return }
                try await Task.sleep(for: .seconds(min(rest, 10)))
            }
        }
    )

    /// Runs evenly, whatever happens to the time of day.
    package static let steady: HostClock = {
        let start = ContinuousClock.now
        let date = Date()
        return HostClock(
            now: { date.addingTimeInterval((ContinuousClock.now - start) / .seconds(1)) },
            sleepUntil: { deadline in
                let now = date.addingTimeInterval((ContinuousClock.now - start) / .seconds(1))
                try await Task.sleep(for: .seconds(max(deadline.timeIntervalSince(now), 0)))
            }
        )
    }()
}
