/// Browsing as a state machine: which instances to resolve and when, what hosts they make, and when all is settled.
package struct BrowseProgram: EngineProgram {
    /// While something is being waited for, the program looks at it this often.
    static let tick = Duration.milliseconds(250)
    /// The most resolvers that wait for answers at a time, if the engine takes as many: every lookup that is under way
    /// slows the engine's others down.
    static let mostResolving = 128
    /// The ticks after which a host that the engine has not resolved is asked by ``EngineCommand/ask(_:)``. A lookup
    /// that meets no loss takes less than 250 ms.
    static let asksAfter = [5, 9, 13]
    /// From so many instances on, the engine's word that all known answers are in is not taken at once: answers of many
    /// hosts take their time, and get lost.
    static let crowd = 128

    let types: [ServiceType]
    let keepsWatching: Bool
    private let limitsOf: @Sendable (DiscoveryEngineKind) -> BrowseLimits
    /// Those of the engine that is in use, once ``readLimits()`` has run.
    var limits: BrowseLimits
    private var knowsLimits = false
    var table = DiscoveredHostTable()
    /// Types whose browser has not yet said that all known answers are in.
    var waiting: Set<ServiceType> = []
    var isSettled = false
    /// The engine that is in use, or was last.
    private var engine: DiscoveryEngineKind?
    /// The instances that are announced now.
    var present: Set<ServiceInstance> = []
    /// The instances that were announced before the engine was lost; empty once all is settled again.
    var stale: Set<ServiceInstance> = []
    /// Found, but not yet being resolved; first come, first served.
    var queue = InstanceQueue()
    /// With the number of the tick at which it began.
    var resolving: [ServiceInstance: Int] = [:]
    /// Resolved or failed, but the resolver is not yet freed. Freeing one costs the daemon's client a round trip, which
    /// would delay the answers that are already waiting: it is done a while after all is settled, or when others wait
    /// for their turn. While watching, they stay: they report what changes.
    var finished = InstanceQueue()
    /// Resolved by asking the host itself, which the engine may not know to be enough.
    var answered: Set<ServiceInstance> = []
    /// How often in a row resolving has failed. Counted while watching only.
    private var failures: [ServiceInstance: Int] = [:]
    var clock = BrowseClock()
    /// The instances that could not be watched, because there are more of them than resolvers.
    private var unwatched: Set<ServiceInstance> = []
    /// Announced still, but what they had resolved to has expired: hosts that have left without a goodbye.
    private var vanished: Set<ServiceInstance> = []

    /// - Parameters:
    ///   - types: What to browse.
    ///   - keepsWatching: Whether changed addresses, ports and TXT records of hosts that stay are reported too, and
    ///     what does not resolve is tried again. Of more instances than there can be resolvers, those that were
    ///     resolved first are not watched any more. Default: false, which needs resolvers only until shortly after all
    ///     is settled.
    ///   - limits: How much an engine takes. Default: 256 resolvers at a time.
    package init(
        types: [ServiceType],
        keepsWatching: Bool = false,
        limits: @escaping @Sendable (DiscoveryEngineKind) -> BrowseLimits = { _ in BrowseLimits(resolvers: 256) }
    ) {
        var seen: Set<ServiceType> = []
        self.types = types.filter { seen.insert($0).inserted }
        self.keepsWatching = keepsWatching
        limitsOf = limits
        self.limits = limits(.embedded)
    }

    package mutating func connected(to engine: DiscoveryEngineKind) -> [EngineCommand<DiscoveryEvent>] {
        waiting = Set(types)
        isSettled = false
        knowsLimits = false
        clock = BrowseClock()
        let resumed: [EngineCommand<DiscoveryEvent>] = self.engine == nil ? [] : [.emit(.resumed(engine))]
        self.engine = engine
        return types.map { .browse($0) } + resumed + settleIfDone()
    }

    package mutating func began() {
        readLimits()
    }

    private mutating func readLimits() {
        guard !knowsLimits, let engine else { return }
        knowsLimits = true
        limits = limitsOf(engine)
    }

    package mutating func handle(_ event: EngineEvent) -> [EngineCommand<DiscoveryEvent>] {
        readLimits()
        switch event {
        case .found(let instance):
            guard present.insert(instance).inserted else { return [] }
            queue.append(instance)
            clock.found(afterAll: waiting.isEmpty)
            return startResolving() + wake()
        case .left(let instance):
            return left(instance)
        case .allForNow(let type):
            waiting.remove(type)
            return settleIfDone() + wake()
        case .resolved(let instance, let resolution):
            guard present.contains(instance) else { return [] }
            failures[instance] = nil
            answered.remove(instance)
            vanished.remove(instance)
            return finish(instance, with: table.resolved(instance, as: resolution))
        case .answered(let instance, let resolution):
            // Whatever the engine has found out meanwhile is better.
            guard present.contains(instance), resolving[instance] != nil else { return [] }
            answered.insert(instance)
            return finish(instance, with: table.resolved(instance, as: resolution))
        case .resolveFailed(let instance, let flaw):
            guard present.contains(instance) else { return [] }
            return finish(instance, with: unresolved(instance, because: flaw)) + retryLater(instance)
        case .retryDue(let instance):
            return retry(instance)
        case .woke:
            return woke()
        case .ready, .registering, .hostNameCollision, .lost, .published, .nameCollision, .publishFailed:
            return []
        }
    }

    package mutating func disconnected(_ error: DiscoveryError) -> [EngineCommand<DiscoveryEvent>] {
        stale.formUnion(present)
        present = []
        queue.removeAll()
        resolving = [:]
        finished.removeAll()
        answered = []
        failures = [:]
        unwatched = []
        vanished = []
        return engine.map { [.emit(.interrupted(error, $0))] } ?? []
    }

    private mutating func left(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        guard present.remove(instance) != nil else { return [] }
        failures[instance] = nil
        answered.remove(instance)
        unwatched.remove(instance)
        vanished.remove(instance)
        var commands: [EngineCommand<DiscoveryEvent>] = table.removed(instance).map { .emit($0) }
        _ = queue.remove(instance)
        let wasFinished = finished.remove(instance)
        if resolving.removeValue(forKey: instance) != nil || wasFinished { commands.append(.release(instance)) }
        return commands + startResolving() + settleIfDone()
    }

    /// An instance that never resolved is a host of which no more is known. One that did, and does not any more, is
    /// gone: its PTR record lives for 75 minutes, the others for two (RFC 6762, section 10).
    private mutating func unresolved(_ instance: ServiceInstance, because flaw: AdvertFlaw) -> [DiscoveryEvent] {
        // What the host itself has answered stands.
        guard !answered.contains(instance) else { return [] }
        if keepsWatching, table.isResolved(instance) { vanished.insert(instance) }
        return vanished.contains(instance) ? table.removed(instance) : table.failed(instance, because: flaw)
    }

    private mutating func finish(
        _ instance: ServiceInstance,
        with events: [DiscoveryEvent]
    ) -> [EngineCommand<DiscoveryEvent>] {
        var commands: [EngineCommand<DiscoveryEvent>] = events.map { .emit($0) }
        if resolving.removeValue(forKey: instance) != nil {
            if queue.isEmpty || keepsWatching {
                finished.append(instance)
            } else {
                commands.append(.release(instance))
            }
        }
        return commands + startResolving() + settleIfDone()
    }

    mutating func startResolving() -> [EngineCommand<DiscoveryEvent>] {
        var commands: [EngineCommand<DiscoveryEvent>] = []
        while !queue.isEmpty, resolving.count < min(Self.mostResolving, limits.resolvers) {
            if resolving.count + finished.count >= limits.resolvers {
                guard let oldest = finished.popFirst() else { break }
                commands.append(.release(oldest))
                commands += missing(oldest)
            }
            guard let next = queue.popFirst() else { break }
            unwatched.remove(next)
            resolving[next] = clock.ticks
            commands.append(.resolve(next))
        }
        return commands
    }

    /// Tells once that not everything is watched.
    private mutating func missing(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        guard keepsWatching else { return [] }
        defer { unwatched.insert(instance) }
        guard unwatched.isEmpty else { return [] }
        return [.emit(.incomplete(.unwatched(max(1, present.count - limits.resolvers))))]
    }

    /// Pauses of 2, 4, 8, ... 64 seconds. An engine gives up after 5 seconds, and its own further queries become rare.
    private mutating func retryLater(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        guard keepsWatching else { return [] }
        let count = failures[instance, default: 0] + 1
        failures[instance] = count
        return [.retry(instance, after: .seconds(1 << min(count, 6)))]
    }

    private mutating func retry(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        // An instance that has left or was resolved in the meantime has no failures any more.
        guard failures[instance] != nil, resolving[instance] == nil, !queue.contains(instance) else { return [] }
        let release: [EngineCommand<DiscoveryEvent>] = finished.remove(instance) ? [.release(instance)] : []
        // What the host has answered stands until it fails to answer again.
        answered.remove(instance)
        queue.append(instance)
        return release + startResolving() + wake()
    }
}
