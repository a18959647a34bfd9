import NIOConcurrencyHelpers

/// Something that may be used once.
struct OneShot: Sendable {
    private let isUsed = NIOLockedValueBox(false)

    /// - Returns: Whether this is the first use.
    func use() -> Bool {
        isUsed.withLockedValue { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}
