/// An event of an engine. Those of one connection come in order and are never dropped: they are deltas.
package enum EngineEvent: Sendable, Hashable {
    /// The engine's host name is established: services may be published.
    case ready
    /// The engine is (again) about to establish its host name: published services have to be withdrawn.
    case registering
    /// Another machine has the engine's host name.
    case hostNameCollision
    /// The engine does not answer any more. Nothing follows on this connection.
    case lost(DiscoveryError)

    case found(ServiceInstance)
    case left(ServiceInstance)
    /// A browser has reported every answer that is known or likely to come soon.
    case allForNow(ServiceType)
    case resolved(ServiceInstance, ServiceResolution)
    /// A host that was asked by ``EngineCommand/ask(_:)`` has answered.
    case answered(ServiceInstance, ServiceResolution)
    case resolveFailed(ServiceInstance, AdvertFlaw = .noAddress)
    /// The pause of an ``EngineCommand/retry(_:after:)`` is over.
    case retryDue(ServiceInstance)
    /// The pause of an ``EngineCommand/wake(after:)`` is over.
    case woke

    case published
    /// A name of the published services is taken; they are withdrawn.
    case nameCollision
    case publishFailed(DiscoveryError)
}

/// An order of an ``EngineProgram`` to its engine, or output to pass on.
package enum EngineCommand<Output: Sendable & Hashable>: Sendable, Hashable {
    case browse(ServiceType)
    case resolve(ServiceInstance)
    /// Ends resolving: every `resolve` is followed by one, after its answer or before. Until then, the engine reports
    /// every change of what it has resolved.
    case release(ServiceInstance)
    /// Asks for ``EngineEvent/retryDue(_:)`` after a pause; a later one of the same instance replaces it.
    case retry(ServiceInstance, after: Duration)
    /// Asks for ``EngineEvent/woke`` after a pause; a later one replaces it.
    case wake(after: Duration)
    /// Asks for the records of an instance in a query of pairtool's own, past the engine;
    /// ``EngineEvent/answered(_:_:)`` follows if there is an answer that leads to an address.
    case ask(ServiceInstance)
    case publish(name: String)
    case withdraw
    case renameHost
    case emit(Output)
    /// Gives this connection up: it is closed, and after a pause there is a new one.
    case reconnect(DiscoveryError)
}

/// A state machine that turns an engine's events into commands and output. It does no I/O of its own.
package protocol EngineProgram: Sendable {
    associatedtype Output: Sendable & Hashable

    /// A connection to an engine is there, for the first time or again.
    mutating func connected(to engine: DiscoveryEngineKind) -> [EngineCommand<Output>]
    /// The engine is at work on the first commands: the time for what it need not wait for. Default: nothing.
    mutating func began()
    mutating func handle(_ event: EngineEvent) -> [EngineCommand<Output>]
    /// The connection, and every browser, resolver and published service of it, is gone.
    mutating func disconnected(_ error: DiscoveryError) -> [EngineCommand<Output>]
}

extension EngineProgram {
    package mutating func began() {}
}

/// An implementation of mDNS and DNS-SD.
///
/// Its calls block on D-Bus or a loop lock for a short while: an engine is an actor with an executor of its own, so
/// that the cooperative thread pool never waits.
protocol DiscoveryEngine: Actor {
    nonisolated var kind: DiscoveryEngineKind { get }

    /// Connects. Call it only when there is no connection: at first, or after ``close()``.
    func open() throws(DiscoveryError) -> EngineEvents
    /// Has events delivered from now on. Called once, after the first commands: they need not share the loop with its
    /// thread. Default: nothing, for an engine that delivers them from the beginning.
    func start() throws(DiscoveryError)
    func browse(_ type: ServiceType) throws(DiscoveryError)
    func resolve(_ instance: ServiceInstance) throws(DiscoveryError)
    func release(_ instance: ServiceInstance)
    /// Reports ``EngineEvent/retryDue(_:)`` after a pause, if the connection lasts that long.
    func retry(_ instance: ServiceInstance, after pause: Duration)
    /// Reports ``EngineEvent/woke`` after a pause, if the connection lasts that long.
    func wake(after pause: Duration)
    /// Sends a query of pairtool's own, see ``EngineCommand/ask(_:)``. Does nothing where the network refuses it.
    func ask(_ instance: ServiceInstance)
    /// Publishes services under one name, in place of what was published before.
    ///
    /// - Throws: ``DiscoveryError/Code/nameCollision`` if the engine knows already that the name is taken.
    func publish(_ services: [Advertisement.Service], name: String) throws(DiscoveryError)
    /// Withdraws what is published, with a goodbye (RFC 6762, section 10.1).
    func withdraw()
    /// Takes another host name after a collision, where that is the engine's own business.
    func renameHost()
    /// Reports ``EngineEvent/lost(_:)``: the connection is of no use any more, whatever the engine itself thinks.
    func abandon(_ error: DiscoveryError)
    /// Withdraws everything and disconnects. Does nothing without a connection.
    func close()
}

extension DiscoveryEngine {
    func start() throws(DiscoveryError) {}
}
