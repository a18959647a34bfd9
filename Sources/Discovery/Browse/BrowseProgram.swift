/// Browsing as a state machine: which instances to resolve and when, what hosts they make, and when all is settled.
package struct BrowseProgram: EngineProgram {
    /// How many resolvers exist at a time. The Avahi daemon allows a client 1,024 objects.
    package static let defaultResolverLimit = 256

    private let types: [ServiceType]
    private let keepsWatching: Bool
    private let resolverLimit: Int
    private var table = DiscoveredHostTable()
    /// Types whose browser has not yet said that all known answers are in.
    private var waiting: Set<ServiceType> = []
    private var isSettled = false
    /// The engine that is in use, or was last.
    private var engine: DiscoveryEngineKind?
    /// What is announced now.
    private var present: Set<ServiceInstance> = []
    /// What was announced before the engine was lost, until the next time all is settled.
    private var stale: Set<ServiceInstance> = []
    /// Found, but not yet being resolved; first come, first served.
    private var queue: ArraySlice<ServiceInstance> = []
    private var resolving: Set<ServiceInstance> = []
    /// Resolved or failed, but the resolver is not yet freed. Freeing one costs the daemon's client a round trip, which
    /// would delay the answers that are already waiting: it is done when all is settled, or when the limit is reached.
    /// While watching, they stay: they report what changes.
    private var finished: [ServiceInstance] = []
    /// How often in a row resolving has failed. Counted while watching only.
    private var failures: [ServiceInstance: Int] = [:]
    /// Announced still, but what they had resolved to has expired: hosts that have left without a goodbye.
    private var vanished: Set<ServiceInstance> = []

    /// - Parameters:
    ///   - types: What to browse.
    ///   - keepsWatching: Whether changed addresses, ports and TXT records of hosts that stay are reported too, and what
    ///     does not resolve is tried again. Of more instances than `resolverLimit`, those that were resolved first are
    ///     not watched any more. Default: false, which needs resolvers only until all is settled.
    ///   - resolverLimit: How many resolvers exist at a time.
    package init(
        types: [ServiceType],
        keepsWatching: Bool = false,
        resolverLimit: Int = BrowseProgram.defaultResolverLimit
    ) {
        var seen: Set<ServiceType> = []
        self.types = types.filter { seen.insert($0).inserted }
        self.keepsWatching = keepsWatching
        self.resolverLimit = max(1, resolverLimit)
    }

    package mutating func connected(to engine: DiscoveryEngineKind) -> [EngineCommand<DiscoveryEvent>] {
        waiting = Set(types)
        isSettled = false
        let resumed: [EngineCommand<DiscoveryEvent>] = self.engine == nil ? [] : [.emit(.resumed(engine))]
        self.engine = engine
        return types.map { .browse($0) } + resumed + settleIfDone()
    }

    package mutating func handle(_ event: EngineEvent) -> [EngineCommand<DiscoveryEvent>] {
        switch event {
        case .found(let instance):
            guard present.insert(instance).inserted else { return [] }
            queue.append(instance)
            return startResolving()
        case .left(let instance):
            return left(instance)
        case .allForNow(let type):
            waiting.remove(type)
            return settleIfDone()
        case .resolved(let instance, let resolution):
            guard present.contains(instance) else { return [] }
            failures[instance] = nil
            vanished.remove(instance)
            return finish(instance, table.resolved(instance, resolution))
        case .resolveFailed(let instance):
            guard present.contains(instance) else { return [] }
            return finish(instance, unresolved(instance)) + retryLater(instance)
        case .retryDue(let instance):
            return retry(instance)
        case .ready, .registering, .hostNameCollision, .lost, .published, .nameCollision, .publishFailed:
            return []
        }
    }

    package mutating func disconnected(_ error: DiscoveryError) -> [EngineCommand<DiscoveryEvent>] {
        stale.formUnion(present)
        present = []
        queue = []
        resolving = []
        finished = []
        failures = [:]
        vanished = []
        return engine.map { [.emit(.interrupted(error, $0))] } ?? []
    }

    private mutating func left(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        guard present.remove(instance) != nil else { return [] }
        failures[instance] = nil
        vanished.remove(instance)
        var commands: [EngineCommand<DiscoveryEvent>] = table.removed(instance).map { .emit($0) }
        if let index = queue.firstIndex(of: instance) { queue.remove(at: index) }
        let wasFinished = finished.firstIndex(of: instance).map { finished.remove(at: $0) } != nil
        if resolving.remove(instance) != nil || wasFinished { commands.append(.release(instance)) }
        return commands + startResolving() + settleIfDone()
    }

    /// An instance that never resolved is a host of which no more is known. One that did, and does not any more, is gone:
    /// its PTR record lives for 75 minutes, the others for two (RFC 6762, section 10).
    private mutating func unresolved(_ instance: ServiceInstance) -> [DiscoveryEvent] {
        if keepsWatching, table.isResolved(instance) { vanished.insert(instance) }
        return vanished.contains(instance) ? table.removed(instance) : table.failed(instance)
    }

    private mutating func finish(
        _ instance: ServiceInstance,
        _ events: [DiscoveryEvent]
    ) -> [EngineCommand<DiscoveryEvent>] {
        if resolving.remove(instance) != nil { finished.append(instance) }
        return events.map { .emit($0) } + startResolving() + settleIfDone()
    }

    private mutating func startResolving() -> [EngineCommand<DiscoveryEvent>] {
        var commands: [EngineCommand<DiscoveryEvent>] = []
        if !queue.isEmpty, resolving.count + finished.count >= resolverLimit {
            // Freed all at once, they cost less; but those that watch make no more room than is needed.
            commands += releaseFinished(keepsWatching ? queue.count : finished.count)
        }
        while resolving.count + finished.count < resolverLimit, let next = queue.popFirst() {
            resolving.insert(next)
            commands.append(.resolve(next))
        }
        return commands
    }

    /// Releases the oldest of those that have answered.
    private mutating func releaseFinished(_ count: Int) -> [EngineCommand<DiscoveryEvent>] {
        let released = finished.prefix(count)
        finished.removeFirst(released.count)
        return released.map { .release($0) }
    }

    /// Pauses of 2, 4, 8, ... 64 seconds. An engine gives up after 5 seconds, and its own further queries become rare.
    private mutating func retryLater(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        guard keepsWatching else { return [] }
        let count = failures[instance, default: 0] + 1
        failures[instance] = count
        return [.retry(instance, after: .seconds(1 << min(count, 6)))]
    }

    private mutating func retry(_ instance: ServiceInstance) -> [EngineCommand<DiscoveryEvent>] {
        // Whoever has left or been resolved in the meantime has no failures any more.
        guard failures[instance] != nil, !resolving.contains(instance), !queue.contains(instance) else { return [] }
        if finished.contains(instance) { return [.release(instance), .resolve(instance)] }
        queue.append(instance)
        return startResolving()
    }

    private mutating func settleIfDone() -> [EngineCommand<DiscoveryEvent>] {
        guard waiting.isEmpty, queue.isEmpty, resolving.isEmpty else { return [] }
        var commands: [EngineCommand<DiscoveryEvent>] = []
        if !isSettled {
            isSettled = true
            for instance in stale.subtracting(present).sorted() {
                commands += table.removed(instance).map { .emit($0) }
            }
            stale = []
            commands.append(.emit(.settled))
        }
        return keepsWatching ? commands : commands + releaseFinished(finished.count)
    }
}
