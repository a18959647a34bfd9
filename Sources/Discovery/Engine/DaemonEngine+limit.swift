/// Lets one attempt at a time through to the system bus: of those that it blocks for ever, there shall be one.
actor DaemonConnectionLock {
    private var isTaken = false

    func tryLock() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    func unlock() {
        isTaken = false
    }
}

extension DaemonEngine {
    /// Connects like ``open()``, but waits no longer than `limit`: libdbus blocks on a bus that accepts and keeps
    /// silent.
    ///
    /// Past the limit, the engine must not be used any more. The thread that is blocked is left behind; should it ever
    /// get through, the engine disconnects and goes.
    ///
    /// - Parameter lock: Held by a thread that is blocked: until it gets through, this fails at once.
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``, also when the limit is over or the task is cancelled.
    nonisolated func open(
        within limit: Duration,
        holding lock: DaemonConnectionLock
    ) async throws(DiscoveryError) -> EngineEvents {
        typealias Answer = Result<EngineEvents, DiscoveryError>
        guard await lock.tryLock() else {
            throw DiscoveryError(.engineUnavailable, "the Avahi daemon or the system bus still does not answer")
        }
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        // Not a group: that would wait for the blocked thread.
        Task {
            do throws(DiscoveryError) {
                let events = try await open()
                await lock.unlock()
                answer.yield(.success(events))
            } catch {
                await lock.unlock()
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
