import CompanionWire
import NIOConcurrencyHelpers

/// Work that is done once for all who need it at the same time, and goes on when they stop waiting.
final class SharedWork<Value: Sendable>: Sendable {
    private struct Entry {
        var task: Task<Void, Never>
        var since = ContinuousClock.now
        var waiting: [AsyncStream<Value>.Continuation] = []
    }

    private let entries = NIOLockedValueBox<[String: Entry]>([:])

    /// Waits for the result of the work for a key, which begins unless it is at work.
    ///
    /// - Parameter limit: How long to wait at most, by how long the work has lasted.
    /// - Returns: nil if it takes longer, and when the task is cancelled.
    func value(
        _ key: String,
        within limit: (_ lasted: Duration) -> Duration,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (values, value) = AsyncStream.makeStream(of: Value.self)
        let wait = entries.withLockedValue { entries in
            // It takes the lock, too, before it looks who waits.
            if entries[key] == nil { entries[key] = Entry(task: Task { self.finish(key, with: await work()) }) }
            entries[key]?.waiting.append(value)
            return limit(entries[key].map { .now - $0.since } ?? .zero)
        }
        let found = try? await withTimeLimit(wait) { () -> Value? in
            for await value in values { return value }
            return nil
        }
        return found ?? nil
    }

    /// Cancels all that is at work.
    func stop() {
        for entry in entries.withLockedValue({ Array($0.values) }) { entry.task.cancel() }
    }

    private func finish(_ key: String, with value: Value) {
        let waiting = entries.withLockedValue { $0.removeValue(forKey: key)?.waiting ?? [] }
        for reader in waiting {
            reader.yield(value)
            reader.finish()
        }
    }
}
