import CompanionWire
import Identity
import Logging
import NIOConcurrencyHelpers
import Relay

/// The parts of a host below its connections. They are made once; its routes, its commands and its owner share them.
struct HostServices: Sendable {
    let configuration: CompanionHostConfiguration
    let clock: HostClock
    let logger: Logger
    let events: HostEventSink
    let notifier: HostNotifier
    let database: HostDatabase
    let agent: any Agent
    let questions: AgentQuestions
    let rules: AgentRules
    let maker: ProjectMaker
    let store: CompanionHostStore
    let certificate: HostCertificate
    let identity: HostIdentity
    let gate: DeviceGate
    let pairing: CompanionPairingService
    let quotas: DeviceQuotas
    let turns: TurnRunner
    let chats: AgentChats
    let worktrees: Worktrees
    let control: DeviceControl
    let refusals: AgentRefusals
    let relays: HostRelays
    /// The ports that the host listens on; nil until it does.
    let ports = NIOLockedValueBox<HostPorts?>(nil)

    /// Opens the database, looks at the projects, finds the agent and reads the keys.
    ///
    /// - Parameter agent: Answers prompts. Default: nil, the configured one.
    /// - Throws: ``CompanionHostError``.
    init(
        configuration: CompanionHostConfiguration,
        clock: HostClock,
        logger: Logger,
        agent: (any Agent)? = nil
    ) throws(CompanionHostError) {
        // In the order in which errors are reported.
        let base = try HostFoundation(configuration: configuration, clock: clock, logger: logger)
        (self.configuration, self.clock, self.logger) = (configuration, clock, logger)
        (events, notifier, database) = (base.events, base.notifier, base.database)
        self.agent = if let agent { agent } else { try base.makeAgent() }
        questions = try base.makeQuestions()
        rules = AgentRules(database: database, clock: clock, events: events, logger: logger)
        maker = ProjectMaker(directory: configuration.projectsDirectory ?? base.directory + "/projects")
        store = try base.makeStore(keeping: maker)
        let devices = try CompanionDeviceStore(database: database, clock: clock)
        let sessions = try SessionStore(database: database, clock: clock)
        certificate = try HostCertificate(directory: base.keyDirectory)
        identity = try base.readIdentity(spki: certificate.spki)
        gate = base.makeGate(hostID: identity.id, devices: devices, sessions: sessions)
        relays = try HostRelays(
            addresses: configuration.relays,
            directory: base.keyDirectory,
            devices: devices,
            clock: clock,
            logger: logger
        )
        pairing = try base.makePairing(identity: identity, gate: gate, relays: relays)
        quotas = base.makeQuotas(devices: devices)
        let git = base.makeGitSessions()
        turns = try base.makeTurns(
            agent: self.agent,
            rules: rules,
            questions: questions,
            git: git,
            store: store,
            gate: gate
        )
        chats = AgentChats(agent: self.agent, store: store, turns: turns, logger: logger)
        control = base.makeControl(gate: gate, turns: turns, relays: relays)
        worktrees = Worktrees(sessions: git, store: store, turns: turns)
        refusals = AgentRefusals(database: database, clock: clock, events: events, logger: logger)
    }
}

/// The parts of a host that all others are made from, and how.
private struct HostFoundation {
    let configuration: CompanionHostConfiguration
    let clock: HostClock
    let logger: Logger
    let catalog: ProjectCatalog
    let database: HostDatabase
    let revocations: RevocationCenter
    let notifier: HostNotifier
    let events: HostEventSink

    init(configuration: CompanionHostConfiguration, clock: HostClock, logger: Logger) throws(CompanionHostError) {
        (self.configuration, self.clock, self.logger) = (configuration, clock, logger)
        catalog = try ProjectCatalog(paths: configuration.projects)
        database = try HostDatabase(path: configuration.databasePath)
        let sink = HostEventSink(live: LiveEventBroadcaster(clock: clock))
        revocations = RevocationCenter(clock: clock)
        notifier = HostNotifier(
            configuration.notify,
            host: configuration.name,
            clock: clock,
            revocations: revocations,
            events: sink
        )
        events = sink.observed(by: notifier.take)
    }

    /// The directory of the database.
    var directory: String {
        guard let above = configuration.databasePath.cut(atLast: "/")?.before else { return "." }
        return above.isEmpty ? "/" : String(above)
    }

    var keyDirectory: String { configuration.keyDirectory ?? directory }

    func makeAgent() throws(CompanionHostError) -> any Agent {
        let sessions = AgentSessions(database: database)
        if let sandbox = configuration.sandbox {
            for project in configuration.projects { try sandbox.check(project: project) }
        }
        var owners: [String] = []
        var agents: [any Agent] = []
        for kind in configuration.agents {
            if case .acp(let launch) = kind { owners.append(launch.sessionOwner) }
            agents.append(try makeAgent(kind, isFirst: agents.isEmpty, sessions: sessions))
        }
        try sessions.forgetModes(exceptOf: owners)
        try noteSandboxes(of: agents)
        return agents.count == 1 ? agents[0] : try AgentRoster(agents)
    }

    private func makeAgent(
        _ kind: HostAgentKind,
        isFirst: Bool,
        sessions: AgentSessions
    ) throws(CompanionHostError) -> any Agent {
        switch kind {
        case .builtin: return BuiltinAgent()
        case .model(let launch):
            return ModelAgent(launch, history: ModelHistory(database: database).messages, logger: logger)
        case .command(let command):
            return try CommandAgent(command, sandbox: configuration.sandbox, logger: logger)
        case .acp(var launch):
            launch.sandbox = configuration.sandbox
            let log = configuration.agentLogPath ?? directory + "/agent.log"
            return try ACPAgent(
                launch,
                sessions: sessions,
                clientVersion: configuration.version,
                logPath: isFirst ? log : "\(log.dropping(suffix: ".log") ?? log[...])-\(launch.id).log",
                logger: logger,
                report: { [events] in events.send(.agent(message: $0.message, lines: $0.lines, log: $0.log)) }
            )
        }
    }

    /// Notes in the audit which agents run in a box from now on.
    private func noteSandboxes(of agents: [any Agent]) throws(CompanionHostError) {
        let boxed = agents.flatMap(\.states).filter { $0.sandbox != nil }
        guard let sandbox = boxed.first?.sandbox else { return }
        let detail: JSONValue = [
            "agents": .array(boxed.map { .string($0.id) }), "network": .bool(sandbox.network),
        ]
        let now = clock.now()
        try database.writeBlocking { try AuditLog.append(.agentBoxed, device: nil, detail: detail, at: now, in: $0) }
    }

    func makeQuestions() throws(CompanionHostError) -> AgentQuestions {
        try AgentQuestions(
            database: database,
            clock: clock,
            timeout: configuration.questionTimeout,
            devicesMayAlways: configuration.devicesMayAlways,
            catalog: catalog,
            events: events,
            logger: logger
        )
    }

    func makeStore(keeping maker: ProjectMaker) throws(CompanionHostError) -> CompanionHostStore {
        try CompanionHostStore(
            database: database,
            catalog: catalog,
            clock: clock,
            live: events.live,
            mayKeep: maker.keeping(catalog)
        )
    }

    func readIdentity(spki: [UInt8]) throws(CompanionHostError) -> HostIdentity {
        do {
            let key = try SecureKeyStore(directory: keyDirectory).identity()
            return HostIdentity(id: key.deviceID, publicKey: key.publicKeyText, name: configuration.name, spki: spki)
        } catch {
            let way = error.remedy.map { ": \($0)" } ?? ""
            throw CompanionHostError(.keyUnusable, "The host's key cannot be used: \(error.message)\(way).")
        }
    }

    func makeGate(hostID: String, devices: CompanionDeviceStore, sessions: SessionStore) -> DeviceGate {
        DeviceGate(
            hostID: hostID,
            devices: devices,
            sessions: sessions,
            revocations: revocations,
            clock: clock,
            events: events,
            logger: logger
        )
    }

    func makePairing(
        identity: HostIdentity,
        gate: DeviceGate,
        relays: HostRelays
    ) throws(CompanionHostError) -> CompanionPairingService {
        try CompanionPairingService(
            identity: identity,
            seconds: configuration.challengeSeconds,
            grant: configuration.grant,
            policy: configuration.challenges,
            addresses: configuration.addresses ?? { [lan = configuration.lan] in lan ? [] : ["127.0.0.1"] },
            relays: { CompanionReachResponse(relayId: relays.identity?.id, relays: relays.addresses) },
            clock: clock,
            devices: gate.devices,
            sessions: gate.sessions,
            revocations: gate.revocations,
            events: events,
            logger: logger
        )
    }

    func makeQuotas(devices: CompanionDeviceStore) -> DeviceQuotas {
        DeviceQuotas(
            quota: configuration.quota,
            clock: clock,
            events: events,
            logger: logger,
            device: { devices.device(id: $0) }
        )
    }

    func makeGitSessions() -> GitSessions {
        GitSessions(
            database: database,
            directory: directory + "/changes",
            usesWorktrees: configuration.usesWorktrees,
            clock: clock,
            logger: logger
        )
    }

    func makeTurns(
        agent: any Agent,
        rules: AgentRules,
        questions: AgentQuestions,
        git: GitSessions,
        store: CompanionHostStore,
        gate: DeviceGate
    ) throws(CompanionHostError) -> TurnRunner {
        TurnRunner(
            agent: agent,
            ask: { asked, turn, emit in
                if case .tool(let tool) = asked, let decision = await rules.answer(tool, turn: turn, emit: emit) {
                    return decision
                }
                return await questions.ask(asked, turn: turn, emit: emit)
            },
            sessions: git,
            store: store,
            log: try TurnEventLog(database: database, clock: clock, logger: logger),
            timeout: configuration.turnTimeout,
            events: events.observed(by: questions.note),
            logger: logger,
            revocations: gate.revocations,
            clock: clock,
            expiry: { gate.devices.device(id: $0)?.expiresAt },
            mayWork: gate.devices.mayWork
        )
    }

    func makeControl(gate: DeviceGate, turns: TurnRunner, relays: HostRelays) -> DeviceControl {
        DeviceControl(
            devices: gate.devices,
            sessions: gate.sessions,
            revocations: gate.revocations,
            endTurns: turns.endTurnsOfOthers,
            endCalls: relays.end,
            clock: clock,
            events: events,
            logger: logger
        )
    }
}
