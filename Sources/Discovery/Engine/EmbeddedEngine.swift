import CAvahi
import CAvahiCore
import Glibc
import LocalState
import Logging

/// mDNS inside this process (libavahi-core): needs neither D-Bus nor root, works on `lo`, and shares port 5353 with
/// whatever else answers mDNS on this machine.
actor EmbeddedEngine: AvahiEngine {
    /// The purpose of the engine. One that only browses publishes nothing at all, not even the machine's addresses.
    enum Purpose: Sendable {
        case browse
        /// Browsing that reports what changes.
        case watch
        case publish
    }

    /// Its cache holds 16,000 hosts and takes about 30 MB then: nobody on the network can make it grow without an end.
    static let limits = BrowseLimits(resolvers: 4096, cacheEntries: 65_536)

    nonisolated let kind = DiscoveryEngineKind.embedded
    private nonisolated let executor = QueueExecutor(label: "pairtool.mdns.embedded")
    private let interface: String?
    private let purpose: Purpose
    private let logger: Logger
    private var browsers: [SettleTimer] = []
    var connection: AvahiConnection<EmbeddedLibrary>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter interface: The one interface to browse and publish on; nil for all.
    init(interface: String?, purpose: Purpose, logger: Logger) {
        self.interface = interface
        self.purpose = purpose
        self.logger = logger
    }

    isolated deinit {
        close()
    }

    func open() throws(DiscoveryError) -> EngineEvents {
        if let interface { _ = try indexOfInterface(interface) }
        let avahi = try AvahiCore.functions()
        AvahiLog.redirect(avahi, to: logger)
        let loop = try AvahiLoop()
        let sink = EngineSink()
        var config = AvahiServerConfig()
        _ = avahi.avahi_server_config_init(&config)
        defer { avahi.avahi_server_config_free(&config) }
        config.disable_publishing = purpose == .publish ? 0 : 1
        config.publish_hinfo = 0
        config.publish_workstation = 0
        config.publish_domain = 0
        config.enable_wide_area = 0
        config.n_cache_entries_max = UInt32(Self.limits.cacheEntries ?? 0)
        if let interface {
            config.allow_interfaces = avahi_string_list_add(nil, interface)
        }
        var failure: Int32 = 0
        guard let server = avahi.avahi_server_new(loop.api, &config, embeddedServerStateChanged, sink.context, &failure)
        else {
            throw .avahi(failure, code: .engineUnavailable, message: "the embedded mDNS engine cannot be started")
        }
        // The first queries are about to go out: what the answers bring along need not be asked for one by one.
        if purpose == .browse { loop.overhear(links(), for: sink) }
        do {
            try loop.start()
        } catch {
            avahi.avahi_server_free(server)
            throw error
        }
        connection = AvahiConnection(library: EmbeddedLibrary(avahi: avahi), loop: loop, owner: server, sink: sink)
        if purpose != .publish { Self.widenReceiveBuffers() }
        return sink.events
    }

    func browse(_ type: ServiceType) throws(DiscoveryError) {
        let connection = try connected()
        guard let api = connection.loop.api else {
            throw DiscoveryError(.engineLost, message: "Avahi's event loop is gone")
        }
        let timer = try connection.loop.locked { () throws(DiscoveryError) in
            let timer = SettleTimer(context: BrowserContext(sink: connection.sink, type: type), api: api)
            let browser = connection.library.avahi.avahi_s_service_browser_new(
                connection.owner,
                AvahiConstant.anyInterface,
                AvahiConstant.anyProtocol,
                type.rawValue,
                nil,
                AvahiConstant.noLookupFlags,
                embeddedServiceBrowsed,
                timer.pointer
            )
            guard browser != nil else {
                timer.free()
                throw .avahi(
                    connection.library.errorNumber(of: connection.owner),
                    code: .browseFailed,
                    message: "cannot browse \(type)"
                )
            }
            return timer
        }
        browsers.append(timer)
    }

    /// Every interface over both IP versions; those that mDNS cannot use come to nothing.
    private func links() -> [ServiceInstance.Link] {
        let indices = interface.map { [if_nametoindex($0)] } ?? NetworkInterface.all().map(\.index)
        return indices.flatMap { index in
            [.ipv4, .ipv6].map { ServiceInstance.Link(index: Int32(bitPattern: index), transport: $0) }
        }
    }

    func resolve(_ instance: ServiceInstance) throws(DiscoveryError) {
        let connection = try connected()
        // Without a watch no resolver is needed, and each one would ask the network again.
        if purpose == .browse, let known = connection.loop.locked({ connection.loop.overheard(instance) }) {
            connection.sink.send(.resolved(instance, known))
            return
        }
        try connection.resolve(instance)
    }

    func publish(_ services: [Advertisement.Service], name: String) throws(DiscoveryError) {
        // The server itself knows no interface but those that it was allowed.
        guard try connection?.publish(services, name: name, on: AvahiConstant.anyInterface) != nil else {
            throw notConnected
        }
    }

    func renameHost() {
        guard let connection else { return }
        let avahi = connection.library.avahi
        connection.loop.locked {
            let taken = avahi.avahi_server_get_host_name(connection.owner)
            guard let name = AvahiAlternative.hostName(after: taken) else { return }
            _ = avahi.avahi_server_set_host_name(connection.owner, name)
        }
    }

    func close() {
        guard let connection else { return }
        self.connection = nil
        connection.loop.stop()
        // Freeing the server frees its group, which queues the goodbyes, and sends everything that is queued before it
        // closes the sockets: the goodbyes are out on return, without a loop or a wait.
        connection.library.avahi.avahi_server_free(connection.owner)
        for timer in browsers { timer.free() }
        browsers = []
        connection.sink.finish()
    }
}
