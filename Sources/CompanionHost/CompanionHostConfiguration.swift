/// What answers the prompts of a host's chats.
package enum HostAgentKind: Sendable, Hashable {
    /// The read-only project explorer that needs no model.
    case builtin
    /// A command, as its argument list: prompt on standard input, answer on standard output.
    case command([String])
}

/// Everything that a host is started with.
package struct CompanionHostConfiguration: Sendable {
    /// The name that people see. Default: none, the caller chooses.
    package var name: String
    /// TCP port to listen on; 0 takes any free one. Default: 7878.
    package var port: Int
    /// Whether to listen on all interfaces. Default: false, only `127.0.0.1` and, where it exists, `::1`.
    package var lan: Bool
    /// Absolute paths of the directories that the host lists.
    package var projects: [String]
    /// Where the database lives; its directory is made (mode 0700) when missing.
    package var databasePath: String
    package var agent: HostAgentKind
    /// The version that `GET /health` tells.
    package var version: String
    /// How many seconds a challenge that the host starts by itself lives, clamped to 1…900. Default: 300.
    package var challengeSeconds: Int
    /// How long an agent may be silent before its turn fails. Default: 120 s, as deployed hosts have it.
    package var turnTimeout: Duration

    package init(
        name: String,
        port: Int = 7878,
        lan: Bool = false,
        projects: [String],
        databasePath: String,
        agent: HostAgentKind = .builtin,
        version: String,
        challengeSeconds: Int = 300,
        turnTimeout: Duration = .seconds(120)
    ) {
        self.name = name
        self.port = port
        self.lan = lan
        self.projects = projects
        self.databasePath = databasePath
        self.agent = agent
        self.version = version
        self.challengeSeconds = challengeSeconds
        self.turnTimeout = turnTimeout
    }
}
