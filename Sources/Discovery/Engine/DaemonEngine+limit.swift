extension DaemonEngine {
    /// Connects like ``open()``, but waits no longer than `limit`: libdbus blocks on a bus that accepts and keeps silent.
    ///
    /// Past the limit, the engine must not be used any more. The thread that is blocked is left behind; should it ever
    /// get through, the engine disconnects and goes.
    ///
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``, also when the limit is over or the task is cancelled.
    nonisolated func open(within limit: Duration) async throws(DiscoveryError) -> AsyncStream<EngineEvent> {
        typealias Answer = Result<AsyncStream<EngineEvent>, DiscoveryError>
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        // Not a group: that would wait for the blocked thread.
        Task {
            do throws(DiscoveryError) {
                answer.yield(.success(try await open()))
            } catch {
                answer.yield(.failure(error))
            }
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            let message = "the Avahi daemon or the system bus does not answer within \(limit)"
            answer.yield(.failure(DiscoveryError(.engineUnavailable, message)))
        }
        defer { timer.cancel() }
        for await answer in answers { return try answer.get() }
        throw DiscoveryError(.engineUnavailable, "connecting to the Avahi daemon was cancelled")
    }
}
