import ArgumentParser
import CompanionApp
import CompanionHost
import CompanionWire
import Discovery
import FoundationEssentials
import Glibc
import HostOwner
import Identity
import LocalState
import Logging
import PairingAgent
import Terminal

struct HostRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Serve projects and an assistant, and show the code to pair with (the default).",
        discussion: """
            Listens on this machine only, unless --lan is given. The built-in agent explores the files of the \
            projects, read-only and without a model. --agent runs a coding agent, such as claude or copilot \
            (pairtool host agents). --agent openai asks a model on any OpenAI-compatible server, such as Ollama, and \
            lets it look at the files of the project. Any other command can be the agent: it gets the prompt on \
            standard input and prints the answer, or speaks the Agent Client Protocol with --acp.

            Examples:
              pairtool host --lan --project ~/src/garden --agent claude
              pairtool host --agent openai --model qwen3:8b --url http://127.0.0.1:11434/v1
              pairtool host --project . --agent-command "my-agent --flag"
            """
    )

    @Option(
        name: .customLong("project"),
        help: "A directory to serve (repeatable). Default: the current one.",
        completion: .directory
    )
    var projects: [String] = []

    @Option(help: "The name that companions see. Default: this machine's name.")
    var name: String?

    @Option(help: "The TCP port for HTTP; 0 for any free one.")
    var port = CompanionEndpoint.defaultPort

    @Option(help: "The TCP port for HTTPS; 0 for any free one. Default: --port + 1.")
    var tlsPort: Int?

    @Flag(help: "Listen on the network and advertise there.")
    var lan = false

    @Option(
        name: .customLong("relay"),
        help: ArgumentHelp(
            "Join this relay, so that devices reach the host from other networks (repeatable): relay://MACHINE:PORT/?id=….",
            valueName: "address"
        ),
        transform: RelayAddress.init(commandLine:)
    )
    var relays: [RelayAddress] = []

    @Flag(help: "Also serve protocol 1 companions, over plain HTTP and without proof. Only for a network you trust.")
    var legacy = false

    @Flag(
        help:
            "Give each new agent session its own git worktree and branch, in PROJECT-worktrees beside the project."
    )
    var worktree = false

    @OptionGroup var grant: GrantOptions
    @OptionGroup var quota: QuotaOptions

    @OptionGroup(title: "Agent options") var agent: AgentOptions
    @OptionGroup(title: "Notification options") var notify: NotifyOptions

    @Option(
        help: ArgumentHelp(
            "Answer no to an agent's question after this time, such as 90s, 30m or 12h. Default: 30m.",
            valueName: "time"
        ),
        transform: TimeSpan.init(commandLine:)
    )
    var questionTimeout: TimeSpan?

    @Option(help: "Who may answer always or never to an agent's question: owner, or devices (and the owner).")
    var alwaysBy = AlwaysBy.owner

    @Option(
        help: ArgumentHelp(
            """
            End a turn when the agent has been silent for this long. Default: 2m, or 15m for models and Agent Client \
            Protocol agents.
            """,
            valueName: "time"
        ),
        transform: TimeSpan.init(wait:)
    )
    var turnTimeout: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Also write each QR code to this PNG file (mode 0600). The host removes it when it stops.",
            valueName: "file"
        ),
        completion: .file()
    )
    var qrFile: String?

    @Flag(help: "Print the codes even if standard output is not a terminal. With --json, print the QR payloads too.")
    var showSecrets = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var density: DensityOption
    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
        guard (0...65535).contains(tlsPort ?? 0) else { throw ValidationError("--tls-port must be 0 to 65535.") }
        if let name { try NameRule.check(name) }
        guard projects.allSatisfy({ !$0.utf8.isEmpty }) else {
            throw ValidationError("--project needs a directory. (“.” is the current one.)")
        }
        guard !worktree || agent.changesFiles else {
            throw ValidationError(
                "--worktree needs an agent that changes files: one from `pairtool host agents`, or --agent-command."
            )
        }
        if let interface = discovery.interface, !lan, interface != "lo" {
            throw ValidationError(
                "--interface \(interface) needs --lan. Without --lan, the host listens on this machine only."
            )
        }
    }

    func run() async throws {
        let output = options.output
        let context = output.context
        let directory = context.paths.data + "/host"
        let environment = output.environment(discovery.choice)
        let interface = lan ? environment.discoveryInterface : "lo"
        let discoveryClient = CompanionDiscoveryClient(
            engine: try environment.discoveryEngine,
            interface: interface,
            logger: environment.logger("discovery")
        )
        try discoveryClient.checkInterface()
        if FileStatus(directory + "/host.sqlite") != nil, FileStatus(directory + "/identity.key") == nil {
            output.say(
                "The host's key is missing (\(directory)/identity.key). The host makes a new one, and all devices have to pair again."
            )
        }
        // The host's id is derived from its key, so it stays the same when the name, port or address changes.
        let identity = try SecureKeyStore(directory: directory).identity()
        let name = name?.trimmingWhitespace() ?? MachineName.current
        let chosen = AgentChoice(agent, isConfirmed: confirmation.yes)
        let served = try ServedProjects.resolved(projects)
        let sandbox = try await chosen.sandbox(projects: served, usesWorktrees: worktree, in: environment)
        let agentKinds = try await chosen.kinds(in: environment)
        if agent.allowBypass {
            output.say("The agent may work in modes in which it asks nothing (--allow-bypass).")
        }
        if let sandbox { output.say("Agents run in a box: \(sandbox.facts.text).") }
        let isSeen = context.stdoutIsTerminal && output.format == .text
        // Always a code for who wants it in a file or a pipe; at a terminal, while no device is paired; and where nobody
        // can see it, as in a service, only with `pairtool host pair`.
        let challenges: ChallengePolicy =
            qrFile != nil || !isSeen && showSecrets ? .always : isSeen ? .untilPaired : .onDemand
        let addresses: @Sendable () -> [String] = { ReachableAddresses.now(only: interface).map(\.description) }
        let server = try CompanionBridgeServer(
            configuration: CompanionHostConfiguration(
                name: name,
                port: port,
                tlsPort: tlsPort,
                legacy: legacy,
                lan: lan,
                projects: served,
                databasePath: directory + "/host.sqlite",
                agents: agentKinds,
                sandbox: sandbox,
                agentLogPath: context.paths.state + "/agent.log",
                questionTimeout: questionTimeout?.duration ?? .seconds(1800),
                usesWorktrees: worktree,
                devicesMayAlways: alwaysBy == .devices,
                addresses: lan ? addresses : nil,
                relays: relays.unique,
                grant: PairingGrant(permissions: grant.permissions),
                version: Version.text,
                challenges: challenges,
                quota: quota.quota,
                turnTimeout: turnTimeout?.duration ?? agent.usualTimeout,
                notify: try await NotifyChoice(notify).settings(in: environment),
                adoptsOrphans: true
            ),
            // At a terminal, the screen says what a warning would.
            logger: LoggingSetup.logger("host", usual: isSeen ? .error : .warning, context: context)
        )
        let screen = HostScreen(
            output: output,
            name: name,
            lan: lan,
            picture: try qrFile.map(QRPicture.init),
            showSecrets: showSecrets,
            dense: density.dense,
            challenges: challenges,
            directory: projects.isEmpty ? FileManager.default.currentDirectoryPath : nil
        )
        let advertiser = HostAdvertiser(
            client: discoveryClient,
            name: name,
            id: identity.deviceID,
            isLegacy: legacy
        )
        let admin = AdminServer(
            path: output.adminPath,
            administration: server.administration,
            logger: LoggingSetup.logger("admin", usual: .warning, context: context)
        )
        try await HostRuntime(server: server, admin: admin, advertiser: advertiser, screen: screen).run()
    }
}

/// The people whose answers may also apply to later questions of the agent.
enum AlwaysBy: String, ExpressibleByArgument, CaseIterable {
    /// Only the user who runs the host.
    case owner
    /// Also the users of paired devices with the permission `approve`.
    case devices
}

/// The directories that a host serves.
private enum ServedProjects {
    /// Absolute paths without symbolic links.
    ///
    /// - Parameter projects: Paths; an empty list means the current directory.
    /// - Throws: ``AppError`` with `host.invalid_project`.
    static func resolved(_ projects: [String]) throws -> [String] {
        let current = FileManager.default.currentDirectoryPath
        return try (projects.isEmpty ? [current] : projects).map { project in
            let path = project.begins(with: "/") ? project : "\(current)/\(project)"
            guard let resolved = RealPath.of(path) else {
                let kind: AppError.Kind = errno == EACCES ? .permissionDenied : .nothingFound
                throw AppError(kind, "host.invalid_project", "\(project): \(PrivateFile.systemMessage())")
            }
            return resolved
        }
    }
}
