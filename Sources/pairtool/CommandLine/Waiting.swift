import Dispatch

/// Runs a body with a time limit.
///
/// - Returns: What the body returns, or nil when the time runs out first. The body is then cancelled and awaited.
func withTimeLimit<R: Sendable>(
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

/// Runs blocking calls (reads from a terminal, file locks, image decoding) on threads of their own, so that they do not
/// occupy the cooperative threads.
enum BlockingCall {
    private static let queue = DispatchQueue(label: "pairtool.blocking", attributes: .concurrent)

    static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
