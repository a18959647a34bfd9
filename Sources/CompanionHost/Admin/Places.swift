import NIOConcurrencyHelpers

/// Counts what there may be a bounded number of.
final class Places: Sendable {
    private let free: NIOLockedValueBox<Int>

    init(_ count: Int) {
        free = NIOLockedValueBox(count)
    }

    /// - Returns: Whether there was a free place.
    func take() -> Bool {
        free.withLockedValue { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func give() {
        free.withLockedValue { $0 += 1 }
    }
}
