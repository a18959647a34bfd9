import NIOConcurrencyHelpers

/// Tells blocking work that nobody waits for it any more.
struct CancellationFlag: Sendable {
    private let value = NIOLockedValueBox(false)

    var isSet: Bool {
        value.withLockedValue { $0 }
    }

    func set() {
        value.withLockedValue { $0 = true }
    }
}
