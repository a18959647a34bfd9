import NIOConcurrencyHelpers

/// A clock on which time passes by waiting for it, at once.
final class PassingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let elapsed = NIOLockedValueBox(Duration.zero)

    var now: Instant { Instant(offset: elapsed.withLockedValue(\.self)) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        elapsed.withLockedValue { $0 = max($0, deadline.offset) }
        await Task.yield()
    }
}
