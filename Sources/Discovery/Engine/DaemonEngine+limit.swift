import LocalState

/// Lets one attempt at a time connect to the system bus, so that at most one thread stays blocked.
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
        guard await lock.tryLock() else {
            throw DiscoveryError(
                .engineUnavailable,
                message: "the Avahi daemon or the system bus still does not answer"
            )
        }
        let opened: Result<EngineEvents, DiscoveryError>? = try? await abandoning(after: limit) {
            let result: Result<EngineEvents, DiscoveryError>
            do throws(DiscoveryError) {
                result = .success(try await self.open())
            } catch {
                result = .failure(error)
            }
            await lock.unlock()
            return result
        }
        if let opened { return try opened.get() }
        let reason =
            Task.isCancelled
            ? "connecting to the Avahi daemon was cancelled"
            : "the Avahi daemon or the system bus does not answer within \(limit)"
        throw DiscoveryError(.engineUnavailable, message: reason)
    }
}
