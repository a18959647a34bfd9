/// An operation took longer than it was given.
package struct TimeLimitExceeded: Error {}

/// Runs a body with a time limit.
///
/// - Parameter limit: nil for no limit.
/// - Returns: The body's result; nil when the time runs out first. The body is then cancelled and awaited.
/// - Throws: The body's error, or `CancellationError`.
package func withTimeLimit<R: Sendable>(
    _ limit: Duration?,
    clock: any Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable () async throws -> R
) async throws -> R? {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await clock.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

/// Runs a body within a time limit.
///
/// - Throws: ``TimeLimitExceeded``, or what the body throws.
package func within<R: Sendable>(
    _ limit: Duration,
    _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
    guard let result = try await withTimeLimit(limit, body) else { throw TimeLimitExceeded() }
    return result
}
