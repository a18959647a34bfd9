import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import LocalState
package import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The host: answers the companion protocol, keeps a pairing challenge running and runs the turns of chats.
///
/// Ends on graceful shutdown in less than three seconds: answers that are being written end with an error frame, and
/// are stored as far as they have come.
package final class CompanionBridgeServer: Service {
    /// How long answers may take to end on shutdown before their connections are cut.
    static let shutdownLimit = Duration.milliseconds(2500)

    private let services: HostServices
    private let connections: ConnectionGate
    private let router: CompanionCommandRouter
    /// The interface for the owner at this machine. It is not reachable over the network.
    package let administration: HostAdministration

    /// The id, key and name by which devices know this host.
    package var identity: HostIdentity { services.identity }

    /// Opens the database, looks at the projects and finds the agent. Listens to nothing yet.
    ///
    /// SIGPIPE is ignored in this process from now on: an agent that does not read its input must not end the host.
    ///
    /// - Throws: ``CompanionHostError``.
    package convenience init(
        configuration: CompanionHostConfiguration,
        logger: Logger
    ) throws(CompanionHostError) {
        try self.init(configuration: configuration, logger: logger, clock: .system)
    }

    /// - Parameters:
    ///   - clock: The time of day.
    ///   - connectionClock: The clock for the deadlines of connections: one that runs evenly.
    /// - Throws: ``CompanionHostError``.
    package init(
        configuration: CompanionHostConfiguration,
        logger: Logger,
        clock: HostClock,
        connectionClock: HostClock = .steady
    ) throws(CompanionHostError) {
        guard (0...65535).contains(configuration.port) else {
            throw CompanionHostError(.cannotListen, "\(configuration.port) is not a port (0 to 65535).")
        }
        guard (0...65535).contains(configuration.tlsPort ?? configuration.port + 1) else {
            throw CompanionHostError(
                .cannotListen,
                "\(configuration.tlsPort ?? configuration.port + 1) is not a port (0 to 65535), and HTTPS needs one."
            )
        }
        signal(SIGPIPE, SIG_IGN)
        var limits = configuration.connections
        limits.total = max(min(limits.total, Self.allowManyFiles() - Self.ownFiles), 1)
        connections = ConnectionGate(limits: limits, clock: connectionClock, logger: logger)
        if configuration.adoptsOrphans { AgentProcesses.adoptOrphans() }
        services = try HostServices(configuration: configuration, clock: clock, logger: logger)
        router = CompanionCommandRouter(services, connections: connections)
        administration = HostAdministration(services)
    }

    /// Descriptors that are left for files, pipes of agents and connections that are just ending.
    private static let ownFiles = 256

    /// Every connection is a descriptor, and the usual soft limit of 1024 is meant for `select`.
    ///
    /// - Returns: How many descriptors this process may have.
    private static func allowManyFiles() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        let old = limit.rlim_cur
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 16384))
        let isSet = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return Int(clamping: isSet ? limit.rlim_cur : old)
    }

    /// The events at this host, for one reader. The stream ends when the host ends. If the reader is slow, the newest
    /// thousand events are kept.
    package var events: AsyncStream<HostEvent> { services.events.stream }

    /// Listens and serves until the host is shut down; works once.
    ///
    /// - Throws: ``CompanionHostError/Code/portInUse`` or ``CompanionHostError/Code/cannotListen``.
    package func run() async throws {
        let start = ContinuousClock.now
        defer {
            services.logger.info("host", metadata: .event("host", outcome: "ended", latency: .now - start))
            services.chats.stop()
            services.database.close()
            services.events.finish()
        }
        // Before a turn can begin another worktree.
        await services.worktrees.finishInterrupted(within: .seconds(10))
        // After that, which waits for the git of a host that was killed. What is in use is kept.
        await GitViewDirectory.removeLeft(in: GitViewDirectory.parent, within: .seconds(5))
        // What does not fit the audit is reported at once.
        _ = try? await services.rules.book()
        try await withThrowingTaskGroup(of: Void.self) { [services] group in
            group.addTask { await services.turns.run() }
            group.addTask { await services.turns.log.run() }
            group.addTask { await services.control.run() }
            group.addTask { await services.notifier.run() }
            group.addTask { try await self.listen(since: start) }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: Self.shutdownLimit)
                // Time is up for the others.
                throw CancellationError()
            }
            do {
                // The others work until the shutdown, and the last one only watches how long they take to end.
                for _ in 0..<5 { try await group.next() }
            } catch is CancellationError {
                group.cancelAll()
            }
            group.cancelAll()
        }
    }

    private func listen(since start: ContinuousClock.Instant) async throws {
        let configuration = services.configuration
        let listener = HostListener(
            port: configuration.port,
            tlsPort: configuration.tlsPort,
            lan: configuration.lan,
            certificate: services.certificate,
            router: router,
            socket: LiveSocket(
                events: services.events.live,
                revocations: services.gate.revocations,
                clock: services.clock,
                hostID: identity.id
            ),
            gate: connections,
            relays: services.relays,
            isPairing: { [pairing = services.pairing] in await pairing.state.expiresAt != nil },
            logger: services.logger
        )
        try await listener.run { [services] found in
            services.ports.withLockedValue { $0 = found }
            let numbers: Logger.Metadata = ["port": "\(found.plain)", "tlsPort": "\(found.secure)"]
            services.logger.info(
                "host",
                metadata: .event("host", outcome: "listening", latency: .now - start, numbers)
            )
            services.events.send(.listening(port: found.plain, tlsPort: found.secure))
        } whileListening: { [services] found in
            // No code is shown before it can be used.
            await services.pairing.run(tlsPort: found.secure)
        }
    }
}
