import NIOConcurrencyHelpers

/// Runs work with the same key one after the other; work with other keys runs at the same time.
final class KeyedLock: Sendable {
    /// Who waits, for each key that is in use.
    private let waiting = NIOLockedValueBox<[String: [CheckedContinuation<Void, Never>]]>([:])

    func run<Value: Sendable>(
        _ key: String,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLockedValue { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = waiting.withLockedValue { waiting -> CheckedContinuation<Void, Never>? in
                guard waiting[key]?.isEmpty == false else {
                    waiting[key] = nil
                    return nil
                }
                return waiting[key]?.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }
}
