import NIOConcurrencyHelpers

/// A clock on which time passes by sleeping, at once.
package final class ImmediateClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset: Duration
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let elapsed = NIOLockedValueBox(Duration.zero)

    package init() {}

    package var now: Instant { Instant(offset: elapsed.withLockedValue { $0 }) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// Lets time pass.
    package func advance(by duration: Duration) {
        elapsed.withLockedValue { $0 += duration }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        elapsed.withLockedValue { $0 = max($0, deadline.offset) }
        await Task.yield()
    }
}
