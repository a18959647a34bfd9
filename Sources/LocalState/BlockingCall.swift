import Dispatch

/// Runs blocking calls (reads from a terminal, file locks, image decoding) on threads of their own, so that they do not
/// occupy the cooperative threads.
package enum BlockingCall {
    /// Runs a body on such a thread and waits for it, also if the task is cancelled.
    ///
    /// - Throws: The error of the body.
    package static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        // Each serial queue has a thread at once. One concurrent queue begins with a thread for each core, and gets
        // another one only twice a second while all of them block: the 20th call began after 4.5 seconds.
        let queue = DispatchQueue(label: "pairtool.blocking")
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

/// Runs a body that may block its thread for ever, such as connecting to a bus, and waits for it no longer than a
/// limit.
///
/// - Returns: nil when the limit is over or the task is cancelled. The body is cancelled then; the thread that it
///   blocks is left behind, and its result is dropped.
/// - Throws: The error of the body.
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

/// Waits, even in a cancelled task: the processes of a cancelled turn still have to be ended in good order.
package func uncancellableDelay(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
}
