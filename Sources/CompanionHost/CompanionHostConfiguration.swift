package import CompanionWire

/// The kind of agent that answers the prompts of a host's chats.
package enum HostAgentKind: Sendable, Hashable {
    /// The read-only project explorer that needs no model.
    case builtin
    /// A command, as its argument list: prompt on standard input, answer on standard output.
    case command([String])
    /// An agent that speaks the Agent Client Protocol.
    case acp(ACPLaunch)
    /// A model that answers with the explorer's tools.
    case model(ModelLaunch)
}

/// Everything that a host is started with.
package struct CompanionHostConfiguration: Sendable {
    /// The name that people see. Default: none, the caller chooses.
    package var name: String
    /// TCP port to listen on; 0 takes any free one. Default: 7878.
    package var port: Int
    /// TCP port of HTTPS; 0 takes any free one. Default: nil, ``port`` + 1, or any free one where ``port`` is 0.
    package var tlsPort: Int?
    /// Whether devices of protocol v1 are served, over plain HTTP and unproven. Default: false.
    package var legacy: Bool
    /// Whether to listen on all interfaces. Default: false, only `127.0.0.1` and, where it exists, `::1`.
    package var lan: Bool
    /// Absolute paths of the directories that the host lists.
    package var projects: [String]
    /// The path of the database. Its directory is made (mode 0700) if it is missing.
    package var databasePath: String
    /// The agents that answer prompts, the default one first; not empty. Default: the project explorer.
    package var agents: [HostAgentKind]
    /// The box for agents that are programs. Default: nil, none.
    package var sandbox: AgentSandbox?
    /// The file for what an agent writes to standard error. Default: nil, `agent.log` beside ``databasePath``.
    package var agentLogPath: String?
    /// How long a question of the agent waits for its answer, before it is answered with no. Default: 30 minutes.
    package var questionTimeout: Duration
    /// Whether a new session of the agent in a project under git gets a working tree and a branch of its own.
    /// Default: false.
    package var usesWorktrees: Bool
    /// Whether devices may give answers that go for later questions too. Default: no, only the owner.
    package var devicesMayAlways: Bool
    /// The directory of the host's key and certificate. Default: nil, the directory of ``databasePath``.
    package var keyDirectory: String?
    /// The directory for projects that devices make without a path; mode 0700. Default: nil, `projects` beside
    /// ``databasePath``.
    package var projectsDirectory: String?
    /// The addresses that QR codes name, for networks that block multicast, the most likely one first. Asked at each
    /// code. Default: nil, `127.0.0.1` without ``lan``, else none.
    package var addresses: (@Sendable () -> [String])?
    /// The relays that the host joins, the preferred one first. Default: none.
    package var relays: [RelayAddress]
    /// The permissions and the time that a device may get when it pairs, unless its challenge says otherwise. Default:
    /// all that it asks for, without an end.
    package var grant: PairingGrant
    /// The version that `GET /health` tells.
    package var version: String
    /// How many seconds a challenge that the host starts by itself lives, clamped to 1…900. Default: 300.
    package var challengeSeconds: Int
    /// When the host starts challenges by itself. Default: always, so that there is one at all times.
    package var challenges: ChallengePolicy
    /// How much each device may have stored. Default: ``DeviceQuota/usual``.
    package var quota: DeviceQuota
    /// How long an agent may be silent before its turn fails. Default: 120 s, as deployed hosts have it.
    package var turnTimeout: Duration
    /// The receivers of a note that an agent waits. Default: none.
    package var notify: NotifySettings
    /// Whether the children of this process are all agents: orphans are adopted and ended with them, and what an agent
    /// leaves behind is known as an agent's to later hosts (``InheritedMark``). For a program that does nothing but
    /// host. Default: false; then only those are found that still have the environment which they were started with, or
    /// a parent of theirs.
    package var adoptsOrphans: Bool
    /// The limits of connections. Default: the defaults of ``ConnectionLimits``.
    package var connections: ConnectionLimits

    package init(
        name: String,
        port: Int = 7878,
        tlsPort: Int? = nil,
        legacy: Bool = false,
        lan: Bool = false,
        projects: [String],
        databasePath: String,
        agents: [HostAgentKind] = [.builtin],
        sandbox: AgentSandbox? = nil,
        agentLogPath: String? = nil,
        questionTimeout: Duration = .seconds(1800),
        usesWorktrees: Bool = false,
        devicesMayAlways: Bool = false,
        keyDirectory: String? = nil,
        projectsDirectory: String? = nil,
        addresses: (@Sendable () -> [String])? = nil,
        relays: [RelayAddress] = [],
        grant: PairingGrant = .everything,
        version: String,
        challengeSeconds: Int = 300,
        challenges: ChallengePolicy = .always,
        quota: DeviceQuota = .usual,
        turnTimeout: Duration = .seconds(120),
        notify: NotifySettings = NotifySettings(),
        adoptsOrphans: Bool = false,
        connections: ConnectionLimits = ConnectionLimits()
    ) {
        self.name = name
        self.port = port
        self.tlsPort = tlsPort
        self.legacy = legacy
        self.lan = lan
        self.projects = projects
        self.databasePath = databasePath
        self.agents = agents
        self.sandbox = sandbox
        self.agentLogPath = agentLogPath
        self.questionTimeout = questionTimeout
        self.usesWorktrees = usesWorktrees
        self.devicesMayAlways = devicesMayAlways
        self.keyDirectory = keyDirectory
        self.projectsDirectory = projectsDirectory
        self.addresses = addresses
        self.relays = relays
        self.grant = grant
        self.version = version
        self.challengeSeconds = challengeSeconds
        self.challenges = challenges
        self.quota = quota
        self.turnTimeout = turnTimeout
        self.notify = notify
        self.adoptsOrphans = adoptsOrphans
        self.connections = connections
    }
}
