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

    private let configuration: CompanionHostConfiguration
    private let logger: Logger
    private let sink: HostEventSink
    private let socket: LiveSocket
    private let pairing: CompanionPairingService
    private let turns: TurnRunner
    private let router: CompanionCommandRouter
    private let database: HostDatabase
    private let certificate: HostCertificate
    private let connections: ConnectionGate
    private let ports: NIOLockedValueBox<HostPorts?>
    /// The id, key and name by which devices know this host.
    package let identity: HostIdentity
    /// The interface for the owner at this machine. It is not reachable over the network.
    package let administration: HostAdministration

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
        self.configuration = configuration
        self.logger = logger
        let catalog = try ProjectCatalog(paths: configuration.projects)
        database = try HostDatabase(path: configuration.databasePath)
        sink = HostEventSink(live: LiveEventBroadcaster(clock: clock))
        let stateDirectory = Self.directory(of: configuration.databasePath)
        let agentSessions = AgentSessions(database: database)
        let agent: any Agent =
            switch configuration.agent {
            case .builtin: BuiltinAgent()
            case .model(let launch):
                ModelAgent(launch, history: ModelHistory(database: database).messages, logger: logger)
            case .command(let command): try CommandAgent(command, logger: logger)
            case .acp(let launch):
                try ACPAgent(
                    launch,
                    sessions: agentSessions,
                    clientVersion: configuration.version,
                    logPath: configuration.agentLogPath ?? stateDirectory + "/agent.log",
                    logger: logger,
                    report: { [sink] in sink.send(.agent(message: $0.message, lines: $0.lines, log: $0.log)) }
                )
            }
        let owner: String? = if case .acp(let launch) = configuration.agent { launch.sessionOwner } else { nil }
        try agentSessions.forgetModes(exceptOf: owner)
        let questions = try AgentQuestions(
            database: database,
            clock: clock,
            timeout: configuration.questionTimeout,
            devicesMayAlways: configuration.devicesMayAlways,
            catalog: catalog,
            events: sink,
            logger: logger
        )
        let rules = AgentRules(database: database, clock: clock, events: sink, logger: logger)
        let maker = ProjectMaker(directory: configuration.projectsDirectory ?? stateDirectory + "/projects")
        let store = try CompanionHostStore(
            database: database,
            catalog: catalog,
            clock: clock,
            live: sink.live,
            mayKeep: maker.keeping(catalog)
        )
        let devices = try CompanionDeviceStore(database: database, clock: clock)
        let sessions = try SessionStore(database: database, clock: clock)
        let revocations = RevocationCenter(clock: clock)
        let keyDirectory = configuration.keyDirectory ?? stateDirectory
        certificate = try HostCertificate(directory: keyDirectory)
        identity = try Self.identity(in: keyDirectory, spki: certificate.spki, configuration: configuration)
        let ports = NIOLockedValueBox<HostPorts?>(nil)
        self.ports = ports
        pairing = try CompanionPairingService(
            identity: identity,
            seconds: configuration.challengeSeconds,
            grant: configuration.grant,
            onDemand: configuration.challengesOnDemand,
            addresses: configuration.addresses ?? { [lan = configuration.lan] in lan ? [] : ["127.0.0.1"] },
            clock: clock,
            devices: devices,
            sessions: sessions,
            revocations: revocations,
            events: sink,
            logger: logger
        )
        let quotas = DeviceQuotas(
            quota: configuration.quota,
            clock: clock,
            events: sink,
            logger: logger,
            device: { devices.device(id: $0) }
        )
        let sessionsInGit = GitSessions(
            database: database,
            directory: stateDirectory + "/changes",
            usesWorktrees: configuration.usesWorktrees,
            clock: clock,
            logger: logger
        )
        let log = try TurnEventLog(database: database, clock: clock, logger: logger)
        turns = TurnRunner(
            agent: agent,
            ask: { asked, turn, emit in
                if let decision = await rules.answer(asked, turn: turn, emit: emit) { return decision }
                return await questions.ask(asked, turn: turn, emit: emit)
            },
            sessions: sessionsInGit,
            store: store,
            log: log,
            timeout: configuration.turnTimeout,
            events: sink.observed(by: questions.note),
            logger: logger,
            revocations: revocations,
            clock: clock,
            expiry: { devices.device(id: $0)?.expiresAt },
            mayWork: devices.mayWork
        )
        socket = LiveSocket(events: sink.live, revocations: revocations, clock: clock, hostID: identity.id)
        let control = DeviceControl(
            devices: devices,
            sessions: sessions,
            revocations: revocations,
            endTurns: turns.endTurnsOfOthers,
            clock: clock,
            events: sink,
            logger: logger
        )
        let worktrees = Worktrees(sessions: sessionsInGit, store: store, turns: turns)
        let refusals = AgentRefusals(database: database, clock: clock, events: sink, logger: logger)
        administration = HostAdministration(
            identity: identity,
            legacy: configuration.legacy,
            lan: configuration.lan,
            pairing: pairing,
            control: control,
            questions: questions,
            rules: rules,
            models: agent.models,
            trouble: { agent.trouble },
            worktrees: worktrees,
            refusals: refusals,
            ports: { ports.withLockedValue { $0 } },
            audit: AuditLog(database: database)
        )
        let gate = DeviceGate(
            hostID: identity.id,
            devices: devices,
            sessions: sessions,
            revocations: revocations,
            clock: clock,
            events: sink,
            logger: logger
        )
        let access = RequestAccess(
            legacy: configuration.legacy,
            clock: clock,
            gate: gate,
            agent: agent,
            connections: connections,
            refusals: refusals
        )
        let commands = SignedCommandService(
            identity: identity,
            gate: gate,
            store: store,
            makeProject: { try await maker.make(name: $0, localPath: $1, catalog: catalog) },
            turns: turns,
            worktrees: worktrees,
            quotas: quotas,
            questions: questions,
            agent: agent,
            clock: clock,
            events: sink,
            logger: logger
        )
        router = CompanionCommandRouter(
            legacy: configuration.legacy,
            clock: clock,
            logger: logger,
            groups: [
                HostRoutes(
                    access: access,
                    version: configuration.version,
                    startedAt: (clock.now().timeIntervalSince1970 * 1000).rounded(),
                    hostID: identity.id,
                    ports: { ports.withLockedValue { $0 } }
                ),
                CommandRoutes(access: access, commands: commands),
                DeviceRoutes(access: access, control: control),
                PairingV1Routes(access: access, pairing: pairing, turns: turns, logger: logger),
                PairingV2Routes(access: access, pairing: pairing, logger: logger),
                ChatRoutes(access: access, store: store),
                TurnRoutes(access: access, store: store, turns: turns, quotas: quotas),
                WorktreeRoutes(access: access, worktrees: worktrees),
                ApprovalRoutes(access: access, questions: questions),
                LiveRoutes(access: access),
            ]
        )
    }

    private static func directory(of path: String) -> String {
        guard let above = path.cut(atLast: "/")?.before else { return "." }
        return above.isEmpty ? "/" : String(above)
    }

    private static func identity(
        in directory: String,
        spki: [UInt8],
        configuration: CompanionHostConfiguration
    ) throws(CompanionHostError) -> HostIdentity {
        do {
            let key = try SecureKeyStore(directory: directory).identity()
            return HostIdentity(
                id: key.deviceID,
                publicKey: key.publicKeyText,
                name: configuration.name,
                spki: spki
            )
        } catch {
            let way = error.remedy.map { ": \($0)" } ?? ""
            throw CompanionHostError(.keyUnusable, "The host's key cannot be used: \(error.message)\(way).")
        }
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
    package var events: AsyncStream<HostEvent> { sink.stream }

    /// Listens and serves until the host is shut down; works once.
    ///
    /// - Throws: ``CompanionHostError/Code/portInUse`` or ``CompanionHostError/Code/cannotListen``.
    package func run() async throws {
        let start = ContinuousClock.now
        defer {
            logger.info("host", metadata: .event("host", outcome: "ended", latency: .now - start))
            database.close()
            sink.finish()
        }
        // Before a turn can begin another worktree.
        await administration.worktrees.finishInterrupted(within: .seconds(10))
        // After that, which waits for the git of a host that was killed. What is in use is kept.
        await GitViewDirectory.removeLeft(in: GitViewDirectory.parent, within: .seconds(5))
        let listener = HostListener(
            port: configuration.port,
            tlsPort: configuration.tlsPort,
            lan: configuration.lan,
            certificate: certificate,
            router: router,
            socket: socket,
            gate: connections,
            logger: logger
        )
        // What does not fit the audit is reported at once.
        _ = try? await administration.rules.book()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [turns] in await turns.run() }
            group.addTask { [turns] in await turns.log.run() }
            group.addTask { [administration] in await administration.control.run() }
            group.addTask { [sink, pairing, ports, logger] in
                try await listener.run { found in
                    ports.withLockedValue { $0 = found }
                    let numbers: Logger.Metadata = ["port": "\(found.plain)", "tlsPort": "\(found.secure)"]
                    logger.info(
                        "host",
                        metadata: .event("host", outcome: "listening", latency: .now - start, numbers)
                    )
                    sink.send(.listening(port: found.plain, tlsPort: found.secure))
                } whileListening: { found in
                    // No code is shown before it can be used.
                    await pairing.run(tlsPort: found.secure)
                }
            }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: Self.shutdownLimit)
                // Time is up for the others.
                throw CancellationError()
            }
            do {
                // The others work until the shutdown, and the last one only watches how long they take to end.
                for _ in 0..<4 { try await group.next() }
            } catch is CancellationError {
                group.cancelAll()
            }
            group.cancelAll()
        }
    }
}
