import CompanionWire
package import Logging

/// Finds hosts on the network and publishes this one.
///
/// Both scopes own what they start: engine, thread and sockets are gone when they return, however they return.
package struct CompanionDiscoveryClient: Sendable {
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

    /// - Throws: ``DiscoveryError/Code/invalidInterface`` where this machine has no such interface.
    package func checkInterface() throws(DiscoveryError) {
        if let interface { _ = try indexOfInterface(interface) }
    }

    /// Which engine the choice comes to, on this machine, now.
    ///
    /// - Throws: ``DiscoveryError/Code/engineUnavailable``, ``DiscoveryError/Code/invalidInterface``.
    package func resolvedEngine() async throws(DiscoveryError) -> DiscoveryEngineKind {
        let (_, output) = AsyncStream.makeStream(of: DiscoveryEvent.self)
        let begun = try await source(.browse).begin(BrowseProgram(types: []), into: output)
        await begun.engine.close()
        return begun.engine.kind
    }

    /// Browses while `body` runs.
    ///
    /// The stream begins with ``DiscoveryEvent/added(_:)`` for what is there and goes on until `body` returns; after
    /// ``DiscoveryEvent/settled`` come changes only. What happens when an engine is
    /// lost is in ``DiscoveryEvent/interrupted(_:_:)``. With the choice `auto`, the embedded engine takes over from a
    /// daemon that is gone, and hands back to it when it has returned.
    ///
    /// - Parameters:
    ///   - types: All are browsed at once. Default: every type that pairtool knows.
    ///   - watching: Whether a changed address, port or TXT record of a host that stays is reported too (as
    ///     ``DiscoveryEvent/changed(_:)`` where its id is still the same), and what does not resolve is tried again.
    ///     Default: false, which costs the engine less: a while after ``DiscoveryEvent/settled``
    ///     only hosts that come and go are reported.
    ///   - opening: The longest that the Avahi daemon may take to answer at first. Default: nil, 2 seconds where there
    ///     is another engine, else 10.
    ///   - body: Gets the engine's kind and the events. Its return, or its error, ends browsing.
    /// - Throws: ``DiscoveryError`` if no engine can be started, and what `body` throws.
    package func withBrowse<Result>(
        types: [ServiceType] = ServiceType.all,
        watching: Bool = false,
        opening: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (DiscoveryEngineKind, AsyncStream<DiscoveryEvent>) async throws -> Result
    ) async throws -> Result {
        let program = BrowseProgram(types: types, keepsWatching: watching) { engine in
            engine == .daemon ? DaemonLimits.read() : EmbeddedEngine.limits
        }
        return try await run(
            watching ? .watch : .browse,
            services: [],
            program: program,
            opening: opening,
            isolation: isolation,
            body
        )
    }

    /// Publishes an advertisement while `body` runs, and withdraws it with a goodbye before returning.
    ///
    /// With the choice `auto`, the embedded engine takes over from a daemon that is gone, and keeps the advertisement:
    /// handing it back would make the host leave the network for a moment.
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
        let program = PublishProgram(name: advertisement.instanceName) { AvahiAlternative.serviceName(after: $0) }
        return try await run(
            .publish,
            services: advertisement.services,
            program: program,
            opening: nil,
            isolation: isolation
        ) { _, events in
            try await body(events)
        }
    }

    private func run<Program: EngineProgram, Result>(
        _ purpose: EmbeddedEngine.Purpose,
        services: [Advertisement.Service],
        program: Program,
        opening: Duration?,
        isolation: isolated (any Actor)?,
        _ body: (DiscoveryEngineKind, AsyncStream<Program.Output>) async throws -> Result
    ) async throws -> Result {
        let (stream, output) = AsyncStream.makeStream(of: Program.Output.self)
        let source = source(purpose)
        let begun = try await source.begin(program, publishing: services, into: output, within: opening)
        return try await withThrowingTaskGroup(of: Void.self, isolation: isolation) { group in
            group.addTask { await source.run(begun, publishing: services, into: output) }
            defer { group.cancelAll() }
            return try await body(begun.engine.kind, stream)
        }
    }

    private static func isLocal(_ domain: String) -> Bool {
        var domain = domain.lowercased()
        if domain.ends(with: ".") { domain.removeLast() }
        return domain == "local"
    }

    private func source(_ purpose: EmbeddedEngine.Purpose) -> EngineSource {
        EngineSource(choice: choice, interface: interface, domain: domain, purpose: purpose, logger: logger)
    }
}
