import NIOConcurrencyHelpers

/// Runs work with the same key one after the other; work with other keys runs at the same time.
final class KeyedLock: Sendable {
    private struct Waiter {
        /// The number by which it is found when its task is cancelled; nil for one that waits to the end.
        var number: Int?
        /// Resumed with true when its turn comes, and with false when its task is cancelled.
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        /// The waiting tasks, for each key that is in use.
        var waiting: [String: [Waiter]] = [:]
        var next = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Waits for its turn even in a cancelled task.
    func run<Value: Sendable>(
        _ key: String,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        _ = await withCheckedContinuation { wait(for: key, continuation: $0) }
        defer { release(key) }
        return try await body()
    }

    /// The same, for work that needs not be done once its task is cancelled.
    ///
    /// - Throws: `CancellationError` when the task was cancelled before its turn came.
    func runUnlessCancelled<Value: Sendable>(
        _ key: String,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let number = state.withLockedValue { state in
            state.next += 1
            return state.next
        }
        let isTaken = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: key, continuation: $0, number: number) }
        } onCancel: {
            let waiter = state.withLockedValue { state -> Waiter? in
                guard let place = state.waiting[key]?.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiting[key]?.remove(at: place)
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isTaken else { throw CancellationError() }
        defer { release(key) }
        return try await body()
    }

    private func wait(for key: String, continuation: CheckedContinuation<Bool, Never>, number: Int? = nil) {
        let outcome = state.withLockedValue { state -> Bool? in
            // Under the lock, so that a later cancellation finds it.
            if number != nil, Task.isCancelled { return false }
            guard state.waiting[key] != nil else {
                state.waiting[key] = []
                return true
            }
            state.waiting[key]?.append(Waiter(number: number, continuation: continuation))
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    private func release(_ key: String) {
        let next = state.withLockedValue { state -> Waiter? in
            guard state.waiting[key]?.isEmpty == false else {
                state.waiting[key] = nil
                return nil
            }
            return state.waiting[key]?.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }
}
