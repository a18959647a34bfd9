/// How a ``BrowseProgram`` tells the time: in ticks, which it asks its engine for while it waits for something.
struct BrowseClock: Sendable {
    var ticks = 0
    /// Whether the next tick is on its way.
    var isRunning = false
    /// The tick at which the last instance was found.
    private var lastFound = 0
    /// Whether instances were found after every browser had said that all known answers were in.
    private var findsLate = false

    mutating func found(afterAll: Bool) {
        lastFound = ticks
        if afterAll { findsLate = true }
    }

    /// Whether nothing was found for so long that nothing more is likely to come.
    ///
    /// Answers to a query come within 120 ms (RFC 6762, section 6). Where many came late, as many may have been lost:
    /// then it has to stay quiet until after the next query, which both engines send 2 seconds after the last (section
    /// 5.2).
    var isQuiet: Bool { ticks - lastFound >= (findsLate ? 9 : 2) }
}

extension BrowseProgram {
    /// Asks for the next tick, if there is something to wait for and none is on its way.
    mutating func wake() -> [EngineCommand<DiscoveryEvent>] {
        guard !clock.isRunning, !resolving.isEmpty || !queue.isEmpty || (waiting.isEmpty && !isSettled) else {
            return []
        }
        clock.isRunning = true
        return [.wake(after: Self.tick)]
    }

    mutating func woke() -> [EngineCommand<DiscoveryEvent>] {
        clock.isRunning = false
        clock.ticks += 1
        let slow = resolving.filter { Self.asksAfter.contains(clock.ticks - $0.value) && $0.key.domain == "local" }
        let asks: [EngineCommand<DiscoveryEvent>] = slow.keys.sorted().map { .ask($0) }
        return asks + startResolving() + settleIfDone() + wake()
    }

    mutating func settleIfDone() -> [EngineCommand<DiscoveryEvent>] {
        guard waiting.isEmpty, queue.isEmpty, resolving.isEmpty else { return [] }
        guard isSettled || present.count < Self.crowd || clock.isQuiet else { return [] }
        var commands: [EngineCommand<DiscoveryEvent>] = []
        let settlesNow = !isSettled
        if settlesNow {
            isSettled = true
            for instance in stale.subtracting(present).sorted() {
                commands += table.removed(instance).map { .emit($0) }
            }
            stale = []
            commands += fullEngine()
            commands.append(.emit(.settled))
        }
        guard !keepsWatching else { return commands }
        guard !settlesNow else {
            // The caller ends here and need not wait until each resolver is freed.
            guard !finished.isEmpty, !clock.isRunning else { return commands }
            clock.isRunning = true
            return commands + [.wake(after: Self.tick)]
        }
        while let instance = finished.popFirst() { commands.append(.release(instance)) }
        return commands
    }

    /// Says so where the engine may have dropped records.
    private func fullEngine() -> [EngineCommand<DiscoveryEvent>] {
        // What is far from that need not be counted.
        guard let limit = limits.cacheEntries, table.mostRecords * 2 > limit else { return [] }
        let used = table.recordCount
        return used * 2 > limit ? [.emit(.incomplete(.engineFull(limit: limit, used: used)))] : []
    }
}
