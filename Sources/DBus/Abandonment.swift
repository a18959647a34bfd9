/// Runs what may block a thread for ever, such as connecting to a bus, and waits for it no longer than a limit.
///
/// - Returns: nil when the limit is over or the task is cancelled. The body is cancelled then; the thread that it blocks is
///   left behind, and what it returns is dropped.
/// - Throws: What the body throws.
package func abandoning<R: Sendable>(
    after limit: Duration,
    _ body: @escaping @Sendable () async throws -> R
) async throws -> R? {
    let (results, result) = AsyncThrowingStream.makeStream(of: R.self)
    // Not a group: that would wait for the blocked thread.
    let work = Task {
        do {
            result.yield(try await body())
        } catch {
            result.finish(throwing: error)
        }
    }
    let timer = Task {
        try await Task.sleep(for: limit)
        result.finish()
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    for try await value in results { return value }
    return nil
}
