/// An operation took longer than it was given.
struct TimeLimitExceeded: Error {}

/// Runs an operation and cancels it when it takes too long.
///
/// - Throws: ``TimeLimitExceeded``, or what the operation throws.
func withTimeLimit<Result: Sendable>(
    _ limit: Duration,
    _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await operation() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            throw TimeLimitExceeded()
        }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}
