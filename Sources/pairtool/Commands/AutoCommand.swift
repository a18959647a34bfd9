import ArgumentParser
import CompanionWire
import PairingAgent

struct AutoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auto",
        abstract: "Wait for a host and its code, pair, and go on with a command.",
        discussion: """
            Pairs as soon as a host is in sight and its code shows up where you say: before a camera, in pictures that are \
            saved in a directory, on the screen, in the clipboard. Then it runs the pairtool command behind `--` with that host, or \
            ends; --keep waits for the next. A code that names its host goes to that one only; others go to the only host in \
            sight, or to the one that --only names. Each is used once.
            """
    )

    @OptionGroup(title: "Where codes show up") var places: CodePlaceOptions

    @Option(
        help:
            "Pair with this host only, by name or id (repeatable). A name can be anyone's; an id that a code names cannot."
    )
    var only: [String] = []

    @Option(
        help: "The host's address, for hosts that do not advertise themselves, instead of looking for hosts.",
        transform: HostURL.init(commandLine:)
    )
    var url: HostURL?

    @Flag(help: "Go on after a pairing, as a service.")
    var keep = false

    @Option(help: "The most seconds to wait. Default: no limit.", transform: Seconds.init(commandLine:))
    var timeout: Seconds?

    @OptionGroup(title: "Pairing") var pairing: PairingOptions
    @OptionGroup(title: "Finding hosts") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    @Argument(
        parsing: .postTerminator,
        help: "The pairtool command to run with the paired host, such as `-- projects`."
    )
    var command: [String] = []

    func validate() throws {
        if url != nil, !only.isEmpty { throw ValidationError("--url and --only exclude each other.") }
        if only.contains(where: \.isEmpty) { throw ValidationError("--only takes a name or an id.") }
        guard !command.isEmpty else { return }
        if keep { throw ValidationError("--keep waits for ever: no command goes with it.") }
        // Better now than after a pairing.
        do {
            _ = try Pairtool.parseAsRoot(command)
        } catch {
            guard Pairtool.exitCode(for: error) != .success else { return }
            throw ValidationError("The command behind -- cannot be run: \(Pairtool.message(for: error))")
        }
    }

    func run() async throws {
        let output = options.output
        // Not before: an option that is not known matters more.
        guard places.count > 0 else {
            throw CommandError(
                .usage,
                "usage",
                "there is no place to look for a code",
                next: "say where it will show up: --camera, --watch DIR, --screen or --clipboard"
            )
        }
        let client = try discovery.client(context: output.context)
        let named = try url.map { try PairingTarget(local: $0, family: .copilotforge) }
        let run = AutoRun(
            rules: rules,
            sources: places.sources,
            named: named,
            identity: try PairingJob.identity(output: output),
            deviceName: pairing.deviceName,
            permissions: pairing.wanted,
            isResult: command.isEmpty,
            output: output
        )
        let ended = try await withTimeLimit(timeout?.duration) { try await run.run(client: client) }
        guard let ended else {
            try Task.checkCancellation()
            guard !keep else { return }
            throw CommandError(
                .timedOut,
                "auto.timed_out",
                "no host and code that belong together were there in time",
                next: "what is in sight: pairtool discover"
            )
        }
        guard !command.isEmpty else { return }
        var context = output.context
        context.environment["PAIRTOOL_HOST"] = ended
        let status = await CommandContext.$current.withValue(context) {
            await CommandRunner.run(command)
        }
        if status != .done { throw ExitRequest(status: status) }
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
