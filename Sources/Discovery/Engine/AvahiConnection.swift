import CAvahi

/// The functions of one of Avahi's two libraries: their objects are the same, under other names.
///
/// The owner is the client of the daemon, or the server of the embedded engine.
protocol AvahiLibrary {
    /// The number of the owner's last error.
    func errorNumber(of owner: OpaquePointer) -> Int32
    /// Looks for the address in the address family of the instance's transport: a host that is seen over IPv4 need not
    /// listen on IPv6, and whichever address came first would hide the other.
    func newResolver(
        of owner: OpaquePointer,
        for instance: ServiceInstance,
        name: UnsafePointer<CChar>,
        context: UnsafeMutableRawPointer
    ) -> OpaquePointer?
    func freeResolver(_ resolver: OpaquePointer)
    func newGroup(of owner: OpaquePointer, context: UnsafeMutableRawPointer) -> OpaquePointer?
    func add(
        _ service: Advertisement.Service,
        name: String,
        txt: UnsafeMutablePointer<AvahiStringList>?,
        to group: OpaquePointer,
        of owner: OpaquePointer,
        on interface: AvahiIfIndex
    ) -> Int32
    func commitGroup(_ group: OpaquePointer) -> Int32
    func resetGroup(_ group: OpaquePointer)
    func freeGroup(_ group: OpaquePointer)
}

/// The objects of an engine's connection. Freeing the owner frees its browsers, resolvers and group.
struct AvahiConnection<Library: AvahiLibrary> {
    let library: Library
    let loop: AvahiLoop
    let owner: OpaquePointer
    let sink: EngineSink
    private let resolvers = Resolvers()
    private var group: OpaquePointer?

    init(library: Library, loop: AvahiLoop, owner: OpaquePointer, sink: EngineSink) {
        self.library = library
        self.loop = loop
        self.owner = owner
        self.sink = sink
    }

    func resolve(_ instance: ServiceInstance) throws(DiscoveryError) {
        let context = ResolverContext(sink: sink, instance: instance)
        let pointer = try loop.locked { () throws(DiscoveryError) in
            let pointer = instance.withCName {
                library.newResolver(of: owner, for: instance, name: $0, context: context.pointer)
            }
            guard let pointer else {
                throw .avahi(library.errorNumber(of: owner), code: .resolveFailed, message: "cannot resolve")
            }
            return pointer
        }
        resolvers.all[instance] = (pointer, context)
    }

    func release(_ instance: ServiceInstance) {
        guard let resolver = resolvers.all.removeValue(forKey: instance) else { return }
        withExtendedLifetime(resolver.context) {
            loop.locked { library.freeResolver(resolver.pointer) }
        }
    }

    mutating func publish(
        _ services: [Advertisement.Service],
        name: String,
        on interface: AvahiIfIndex
    ) throws(DiscoveryError) {
        // What was added before a failure must not stay: then the next attempt starts with a new group.
        let earlier = group
        group = nil
        group = try loop.locked { () throws(DiscoveryError) in
            // A group that is there is used again: a new one would defeat mDNS's limits on traffic.
            if let earlier { library.resetGroup(earlier) }
            guard let group = earlier ?? library.newGroup(of: owner, context: sink.context) else {
                throw .avahi(library.errorNumber(of: owner), code: .publishFailed, message: "cannot publish")
            }
            do throws(DiscoveryError) {
                for service in services {
                    let status = withStringList(service.txt) {
                        library.add(service, name: name, txt: $0, to: group, of: owner, on: interface)
                    }
                    try check(status, code: .publishFailed, message: "cannot publish \(service.type)")
                }
                try check(library.commitGroup(group), code: .publishFailed, message: "cannot publish")
            } catch {
                library.freeGroup(group)
                throw error
            }
            return group
        }
    }

    func withdraw() {
        guard let group else { return }
        loop.locked { library.resetGroup(group) }
    }
}

/// An engine over one of Avahi's libraries.
protocol AvahiEngine: DiscoveryEngine {
    associatedtype Library: AvahiLibrary
    var connection: AvahiConnection<Library>? { get set }
}

extension AvahiEngine {
    var notConnected: DiscoveryError {
        DiscoveryError(.engineLost, message: "the \(kind) mDNS engine is not connected")
    }

    func connected() throws(DiscoveryError) -> AvahiConnection<Library> {
        guard let connection else { throw notConnected }
        return connection
    }

    func release(_ instance: ServiceInstance) {
        connection?.release(instance)
    }

    func retry(_ instance: ServiceInstance, after pause: Duration) {
        guard let connection else { return }
        connection.loop.locked { connection.loop.setTimer(connection.sink, for: instance, after: pause) }
    }

    func wake(after pause: Duration) {
        guard let connection else { return }
        connection.loop.locked { connection.loop.setTimer(connection.sink, for: nil, after: pause) }
    }

    func ask(_ instance: ServiceInstance) {
        guard let connection else { return }
        connection.loop.locked { connection.loop.ask(instance, for: connection.sink) }
    }

    func abandon(_ error: DiscoveryError) {
        connection?.sink.send(.lost(error))
    }

    func withdraw() {
        connection?.withdraw()
    }
}
