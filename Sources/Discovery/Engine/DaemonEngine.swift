import CAvahi
import DBus

/// mDNS by the machine's Avahi daemon, over D-Bus (libavahi-client).
actor DaemonEngine: DiscoveryEngine {
    /// The objects of one connection to the daemon. Freeing the client frees its browsers, resolvers and groups.
    struct Connection {
        var loop: AvahiLoop
        var client: OpaquePointer
        var sink: EngineSink
        var browsers: [BrowserContext] = []
        let resolvers = Resolvers()
        var group: OpaquePointer?
    }

    nonisolated let kind = DiscoveryEngineKind.daemon
    private nonisolated let executor = QueueExecutor(label: "pairtool.mdns.daemon")
    private let interface: String?
    private let domain: String?
    var connection: Connection?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - interface: The one interface to browse and publish on; nil for all.
    ///   - domain: The domain to browse; nil for the daemon's own, which is `local`.
    init(interface: String?, domain: String? = nil) {
        self.interface = interface
        self.domain = domain
    }

    isolated deinit {
        close()
    }

    /// Connects to the system bus and the daemon. Fails at once where there is no bus or no daemon.
    func open() throws(DiscoveryError) -> EngineEvents {
        let loop = try AvahiLoop()
        let sink = EngineSink()
        var failure: Int32 = 0
        guard
            let client = avahi_client_new(
                loop.api,
                AvahiClientFlags(rawValue: 0),
                daemonClientStateChanged,
                sink.context,
                &failure
            )
        else {
            throw .avahi(failure, .engineUnavailable, "the Avahi daemon does not answer")
        }
        connection = Connection(loop: loop, client: client, sink: sink)
        return sink.events
    }

    func start() throws(DiscoveryError) {
        try connected().0.loop.start()
    }

    func browse(_ type: ServiceType) throws(DiscoveryError) {
        let (connection, interface) = try connected()
        let context = BrowserContext(sink: connection.sink, type: type)
        try connection.loop.locked { () throws(DiscoveryError) in
            let browser = avahi_service_browser_new(
                connection.client,
                interface,
                AvahiConstant.anyProtocol,
                type.rawValue,
                domain,
                AvahiConstant.noLookupFlags,
                daemonServiceBrowsed,
                context.pointer
            )
            guard browser != nil else {
                throw .avahi(
                    avahi_client_errno(connection.client),
                    .browseFailed,
                    "cannot browse \(type)"
                )
            }
        }
        self.connection?.browsers.append(context)
    }

    func resolve(_ instance: ServiceInstance) throws(DiscoveryError) {
        let (connection, _) = try connected()
        let context = ResolverContext(sink: connection.sink, instance: instance)
        let pointer = try connection.loop.locked { () throws(DiscoveryError) in
            // The address family of the transport: a host that is seen over IPv4 need not listen on IPv6.
            let pointer = instance.withCName { name in
                avahi_service_resolver_new(
                    connection.client,
                    instance.interfaceIndex,
                    instance.avahiProtocol,
                    name,
                    instance.type.rawValue,
                    instance.domain,
                    instance.avahiProtocol,
                    AvahiConstant.noLookupFlags,
                    daemonServiceResolved,
                    context.pointer
                )
            }
            guard let pointer else {
                throw .avahi(avahi_client_errno(connection.client), .resolveFailed, "cannot resolve")
            }
            return pointer
        }
        connection.resolvers.all[instance] = (pointer, context)
    }

    func release(_ instance: ServiceInstance) {
        guard let connection, let resolver = connection.resolvers.all.removeValue(forKey: instance) else { return }
        withExtendedLifetime(resolver.context) {
            connection.loop.locked { _ = avahi_service_resolver_free(resolver.pointer) }
        }
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

    func close() {
        guard let connection else { return }
        self.connection = nil
        connection.loop.stop()
        // The daemon says goodbye for the groups of a client that leaves, so nothing has to be waited for here.
        avahi_client_free(connection.client)
        connection.sink.finish()
    }

    func connected() throws(DiscoveryError) -> (Connection, AvahiIfIndex) {
        guard let connection else { throw DiscoveryError(.engineLost, "not connected to the Avahi daemon") }
        return (connection, try interface.map(indexOfInterface) ?? AvahiConstant.anyInterface)
    }
}
