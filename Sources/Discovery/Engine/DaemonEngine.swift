import CAvahi
import LocalState

/// mDNS by the machine's Avahi daemon, over D-Bus (libavahi-client).
actor DaemonEngine: AvahiEngine {
    nonisolated let kind = DiscoveryEngineKind.daemon
    private nonisolated let executor = QueueExecutor(label: "pairtool.mdns.daemon")
    private let interface: String?
    private let domain: String?
    private var browsers: [BrowserContext] = []
    var connection: AvahiConnection<DaemonLibrary>?

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
            throw .avahi(failure, code: .engineUnavailable, message: "the Avahi daemon does not answer")
        }
        connection = AvahiConnection(library: DaemonLibrary(), loop: loop, owner: client, sink: sink)
        return sink.events
    }

    func start() throws(DiscoveryError) {
        try connected().loop.start()
    }

    func browse(_ type: ServiceType) throws(DiscoveryError) {
        let connection = try connected()
        let interface = try interfaceIndex()
        let context = BrowserContext(sink: connection.sink, type: type)
        try connection.loop.locked { () throws(DiscoveryError) in
            let browser = avahi_service_browser_new(
                connection.owner,
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
                    avahi_client_errno(connection.owner),
                    code: .browseFailed,
                    message: "cannot browse \(type)"
                )
            }
        }
        browsers.append(context)
    }

    func resolve(_ instance: ServiceInstance) throws(DiscoveryError) {
        try connected().resolve(instance)
    }

    func publish(_ services: [Advertisement.Service], name: String) throws(DiscoveryError) {
        let interface = try interfaceIndex()
        guard try connection?.publish(services, name: name, on: interface) != nil else { throw notConnected }
    }

    /// The daemon chooses its host names itself.
    func renameHost() {}

    func close() {
        guard let connection else { return }
        self.connection = nil
        connection.loop.stop()
        // The daemon says goodbye for the groups of a client that leaves, so nothing has to be waited for here.
        avahi_client_free(connection.owner)
        browsers = []
        connection.sink.finish()
    }

    private func interfaceIndex() throws(DiscoveryError) -> AvahiIfIndex {
        try interface.map(indexOfInterface) ?? AvahiConstant.anyInterface
    }
}
