import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct AutoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auto",
        abstract: "Wait for a host and its code, pair, and run a command.",
        discussion: """
            Pairs as soon as a host is in sight and its code appears in one of the code sources. Then runs the \
            pairtool command after `--` with that host, or ends. With --keep it waits for the next host. A code that \
            names its host goes to that host only. Any other code goes to the only host in sight, or to the one that \
            --only selects. Each code is used once.

            Examples:
              pairtool auto --watch ~/Pictures/Screenshots
              pairtool auto --camera -- projects
              pairtool auto --screen --keep --require verified
            """
    )

    @OptionGroup(title: "Code sources") var places: CodePlaceOptions

    @Option(
        help:
            ArgumentHelp(
                "Pair with this host only, by name or id (repeatable). Anyone can use a name; an id is proven by the code.",
                valueName: "host"
            )
    )
    var only: [String] = []

    @Option(
        help: "The address of a host that does not advertise itself, such as http://192.168.1.5:7878.",
        transform: HostURL.init(commandLine:)
    )
    var url: HostURL?

    @Flag(help: "Continue after a pairing, for use as a service.")
    var keep = false

    @Option(
        help: ArgumentHelp("Wait for at most this long. Default: no limit.", valueName: "time"),
        transform: TimeSpan.init(wait:)
    )
    var timeout: TimeSpan?

    @OptionGroup(title: "Pairing options") var pairing: PairingOptions
    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    @Argument(
        parsing: .postTerminator,
        help: "The pairtool command to run with the paired host, such as `-- projects`."
    )
    var command: [String] = []

    func validate() throws {
        if url != nil, !only.isEmpty { throw ValidationError("--url and --only cannot be used together.") }
        if only.contains(where: \.isEmpty) { throw ValidationError("--only needs a name or an id.") }
        guard !command.isEmpty else { return }
        if keep { throw ValidationError("--keep never ends, so no command can follow it.") }
        // Check the command now, not after a pairing.
        do {
            _ = try Pairtool.parseAsRoot(try CommandWords(command).words)
        } catch let error as AppError {
            throw ValidationError("the command after -- cannot be run: \(error.message)")
        } catch {
            guard Pairtool.exitCode(for: error) != .success else { return }
            throw ValidationError("the command after -- cannot be run: \(UsageError.sentence(of: error))")
        }
    }

    func run() async throws {
        let output = options.output
        // Checked here and not in validate(): errors about unknown options come first.
        guard places.count > 0 else {
            throw AppError(
                .usage,
                "usage",
                "no code source was given",
                next: "say where the code will appear: --camera, --watch DIR, --screen or --clipboard"
            )
        }
        let environment = output.environment(discovery.choice)
        let client = try environment.discoveryClient()
        let url = try await url?.resolved(interface: environment.discoveryInterface)
        let named = try url.map { try PairingTarget(local: $0, family: .usual) }
        let run = AutoRun(
            rules: rules,
            sources: places.sources,
            named: named,
            device: try PairingDevice(name: pairing.deviceName, environment: environment),
            permissions: pairing.wanted,
            environment: environment,
            hints: HintLine(output),
            report: { AutoReport(output: output, places: $1).show($0) },
            paired: { [isResult = command.isEmpty] outcome in
                let report = PairingReport(output: output)
                if isResult {
                    report.show(outcome)
                } else {
                    output.say(TerminalText.line(outcome.text))
                    report.explain(outcome)
                }
            }
        )
        let ended = try await withTimeLimit(timeout?.duration) { try await run.run(client: client) }
        guard let ended else {
            try Task.checkCancellation()
            guard !keep else { return }
            throw AppError(
                .timedOut,
                "auto.timed_out",
                "no host with its code appeared in time",
                next: "see which hosts are in sight: pairtool discover"
            )
        }
        guard !command.isEmpty else { return }
        var context = output.context
        context.environment["PAIRTOOL_HOST"] = ended
        let status = await TerminalContext.$current.withValue(context) {
            await CommandRunner.run(command)
        }
        if status != .done { throw ExitRequest(status) }
    }

    private var rules: AutoPairing.Rules {
        var rules = AutoPairing.Rules()
        rules.only = only
        rules.requiresProof = pairing.require == .verified
        rules.allowsLegacy = pairing.allowLegacy
        rules.limitsPermissions = pairing.isLimited
        rules.keeps = keep
        return rules
    }
}
