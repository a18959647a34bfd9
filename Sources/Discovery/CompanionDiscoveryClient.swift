package import Logging

/// Finds hosts on the network and publishes this one.
///
/// Both scopes own what they start: engine, thread and sockets are gone when they return, however they return.
package struct CompanionDiscoveryClient: Sendable {
    /// How long the choice `auto` waits for a bus or daemon that takes the connection but does not answer: libdbus
    /// itself sets no limit while it authenticates. A daemon that is well answers within milliseconds.
    private static let daemonLimit = Duration.seconds(2)

    private let choice: DiscoveryEngineChoice
    private let interface: String?
    private let domain: String?
    private let logger: Logger

    /// - Parameters:
    ///   - engine: The engine to work with. Default: the Avahi daemon where one answers, else the embedded engine.
    ///   - interface: The name of the one network interface to browse and publish on. Default: nil, all of them.
    ///   - domain: The DNS domain to browse, such as `office.example`. Default: nil, the local network. Others are the
    ///     daemon's business alone: it asks the DNS server (wide-area DNS-SD, RFC 6763, section 11).
    ///   - logger: Gets debug and trace messages; what matters is thrown or comes as an event.
    package init(
        engine: DiscoveryEngineChoice = .auto,
        interface: String? = nil,
        domain: String? = nil,
        logger: Logger
    ) {
        self.choice = engine
        self.interface = interface
        self.domain = domain.flatMap { Self.isLocal($0) ? nil : $0 }
        self.logger = logger
    }

    /// Which engine the choice comes to, on this machine, now.
    ///
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``, ``DiscoveryError/Code/invalidInterface``.
    package func resolvedEngine() async throws(DiscoveryError) -> DiscoveryEngineKind {
        let (_, output) = AsyncStream.makeStream(of: DiscoveryEvent.self)
        let begun = try await begin(.browse, into: output) { _ in BrowseProgram(types: []) }
        await begun.engine.close()
        return begun.engine.kind
    }

    /// Browses while `body` runs.
    ///
    /// The stream begins with ``DiscoveryEvent/added(_:)`` for what is there and goes on until `body` returns; after
    /// ``DiscoveryEvent/settled`` come changes only. An engine that is lost is tried again, see
    /// ``DiscoveryEvent/interrupted(_:)``; with the choice `auto`, it stays the engine that it was at first.
    ///
    /// - Parameters:
    ///   - types: All are browsed at once. Default: every type that pairtool knows.
    ///   - watching: Whether a changed address, port or TXT record of a host that stays is reported too (as
    ///     ``DiscoveryEvent/changed(_:)`` where its id is still the same), and what does not resolve is tried again.
    ///     Default: false, which costs the engine less: after ``DiscoveryEvent/settled`` only hosts that come and go are
    ///     reported.
    ///   - body: Gets the engine's kind and the events. Its return, or its error, ends browsing.
    /// - Throws: ``DiscoveryError`` if no engine can be started, and what `body` throws.
    package func withBrowse<Result>(
        types: [ServiceType] = ServiceType.all,
        watching: Bool = false,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (DiscoveryEngineKind, AsyncStream<DiscoveryEvent>) async throws -> Result
    ) async throws -> Result {
        let program = { (engine: DiscoveryEngineKind) in
            let limits = engine == .daemon ? DaemonLimits.read() : EmbeddedEngine.limits
            return BrowseProgram(types: types, keepsWatching: watching, limits: limits)
        }
        return try await run(.browse, isolation: isolation, program: program, body)
    }

    /// Publishes an advertisement while `body` runs, and withdraws it with a goodbye before returning.
    ///
    /// The embedded engine has sent its goodbyes when this returns; the daemon sends them by itself as soon as it is
    /// told, which is also before this returns.
    ///
    /// - Throws: ``DiscoveryError`` if the advertisement is not valid or no engine can be started, and what `body`
    ///   throws. What fails later comes as an event.
    package func withAdvertisement<Result>(
        _ advertisement: Advertisement,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (AsyncStream<AdvertisementEvent>) async throws -> Result
    ) async throws -> Result {
        try advertisement.validate()
        return try await run(.publish, advertisement.services, isolation: isolation) { engine in
            PublishProgram(
                name: advertisement.instanceName,
                engine: engine,
                alternative: { AvahiAlternative.serviceName(after: $0) }
            )
        } _: { _, events in
            try await body(events)
        }
    }

    private func run<Program: EngineProgram, Result>(
        _ purpose: EmbeddedEngine.Purpose,
        _ services: [Advertisement.Service] = [],
        isolation: isolated (any Actor)?,
        program: (DiscoveryEngineKind) -> Program,
        _ body: (DiscoveryEngineKind, AsyncStream<Program.Output>) async throws -> Result
    ) async throws -> Result {
        let (stream, output) = AsyncStream.makeStream(of: Program.Output.self)
        let (engine, program, events) = try await begin(purpose, services, into: output, program: program)
        let logger = self.logger
        return try await withThrowingTaskGroup(of: Void.self, isolation: isolation) { group in
            group.addTask {
                await engine.run(program, from: events, publishing: services, into: output, logger: logger)
            }
            defer { group.cancelAll() }
            return try await body(engine.kind, stream)
        }
    }

    private static func isLocal(_ domain: String) -> Bool {
        var domain = domain.lowercased()
        if domain.hasSuffix(".") { domain.removeLast() }
        return domain == "local"
    }

    private static var wideArea: DiscoveryError {
        DiscoveryError(
            .domainUnsupported,
            "the embedded mDNS engine knows the local network only; other domains need the Avahi daemon"
        )
    }

    private typealias Begun<Program: EngineProgram> = (
        engine: any DiscoveryEngine, program: Program, events: AsyncStream<EngineEvent>
    )

    /// Chooses the engine and begins the program on it.
    private func begin<Program: EngineProgram>(
        _ purpose: EmbeddedEngine.Purpose,
        _ services: [Advertisement.Service] = [],
        into output: AsyncStream<Program.Output>.Continuation,
        isolation: isolated (any Actor)? = #isolation,
        program: (DiscoveryEngineKind) -> Program
    ) async throws(DiscoveryError) -> Begun<Program> {
        if let interface { _ = try interfaceIndex(interface) }
        guard domain == nil || choice != .embedded else { throw Self.wideArea }
        if choice != .embedded {
            let daemon = DaemonEngine(interface: interface, domain: domain)
            do {
                let opened = choice == .auto ? try await daemon.open(within: Self.daemonLimit) : nil
                let begun = try await daemon.begin(
                    program(.daemon),
                    opened: opened,
                    publishing: services,
                    into: output
                )
                return (daemon, begun.program, begun.events)
            } catch {
                guard choice == .auto else { throw error }
                guard domain == nil else { throw Self.wideArea }
                logger.debug("no Avahi daemon, using the embedded engine", metadata: ["reason": "\(error)"])
            }
        }
        let embedded = EmbeddedEngine(interface: interface, purpose: purpose, logger: logger)
        let begun = try await embedded.begin(program(.embedded), publishing: services, into: output)
        return (embedded, begun.program, begun.events)
    }
}
