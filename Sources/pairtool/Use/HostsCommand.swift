import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Terminal

struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "List the paired hosts; set the default, rename or forget one.",
        discussion: """
            Examples:
              pairtool hosts
              pairtool hosts default Studio
              pairtool hosts forget Studio
            """,
        subcommands: [
            HostsListCommand.self, HostsDefaultCommand.self, HostsRenameCommand.self, HostsRoutesCommand.self,
            HostsForgetCommand.self,
        ],
        defaultSubcommand: HostsListCommand.self
    )

    static func change<R>(_ output: Output, _ body: (inout PairedHosts) throws -> R) throws -> R {
        try PairedHostStore(directory: output.context.paths.data).update(body)
    }
}

struct HostsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the paired hosts.",
        discussion: """
            Examples:
              pairtool hosts list
              pairtool hosts list --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let hosts = try PairedHostStore(directory: output.context.paths.data).load()
        guard !hosts.hosts.isEmpty else {
            throw AppError.empty("No host is paired yet", next: "pairtool pair")
        }
        let now = output.context.now()
        output.list(
            hosts.hosts.map { PairedHostRow($0, isDefault: $0.id == hosts.defaultID) },
            columns: [
                TableColumn("", rank: 0) { $0.isDefault ? "*" : " " },
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("FAMILY", rank: 3) { $0.family.programName(speaksV2: $0.trust == .verified) },
                TableColumn("TRUST", rank: 2) { $0.trust.rawValue },
                TableColumn("ADDRESS") { $0.place },
                TableColumn("VIA", rank: 1) { $0.via.rawValue },
                TableColumn("PAIRED", rank: 4) { host in
                    host.revokedAt.map { "revoked \(TimeText.ago($0, now: now))" }
                        ?? TimeText.ago(host.pairedAt, now: now)
                },
                .id { $0.id },
            ],
            id: \.id
        )
    }
}

struct HostsDefaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Set the host that commands use if none is named.",
        discussion: """
            Examples:
              pairtool hosts default Studio
              pairtool hosts default 5f1c
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let chosen = try HostsCommand.change(output) { hosts in
            let chosen = try PairedHostSelection.select(host, in: hosts)
            hosts.defaultID = chosen.id
            return chosen
        }
        output.result(PairedHostRow(chosen, isDefault: true), id: chosen.id) {
            "\(TerminalText.line(chosen.name)) is the default host now."
        }
    }
}

struct HostsRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename a host on this machine.",
        discussion: """
            Examples:
              pairtool hosts rename 192.168.1.5:7878 Studio
              pairtool hosts rename 5f1c "Mac in the study"
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String
    @Argument(help: "The new name.")
    var name: String
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try NameRule.check(name)
    }

    func run() async throws {
        let output = options.output
        let name = name.trimmingWhitespace()
        let (renamed, isDefault) = try HostsCommand.change(output) { hosts in
            var renamed = try PairedHostSelection.select(host, in: hosts)
            if let other = hosts.hosts.first(where: { $0.id != renamed.id && $0.name == name }) {
                throw AppError(
                    .usage,
                    "host.name_taken",
                    "another paired host (\(other.id)) is called “\(name)”"
                )
            }
            renamed.name = name
            hosts.record(renamed)
            return (renamed, hosts.defaultID == renamed.id)
        }
        output.result(PairedHostRow(renamed, isDefault: isDefault), id: renamed.id) {
            "Renamed to \(TerminalText.line(renamed.name))."
        }
    }
}

struct HostsForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a host.",
        discussion: """
            Removes the host's record, its history and the prompts that wait for it from this machine. You are asked \
            first, unless you add --yes. The host still lists this device: to remove it there too, revoke it first.

            Examples:
              pairtool hosts forget Studio
              pairtool devices revoke 9a7d44a9 --yes && pairtool hosts forget Studio --yes
            """
    )

    @Argument(help: "The host, by name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
    var host: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let (output, environment) = (options.output, options.environment)
        let hosts = try PairedHostStore(directory: environment.paths.data).load()
        let chosen = try PairedHostSelection.select(host, in: hosts)
        let outbox = try? chosen.outbox(environment).load()
        let waiting = outbox?.prompts.count ?? 0
        let prompts = waiting == 1 ? "1 prompt" : "\(waiting) prompts"
        let kept = waiting > 0 ? ", its history, and \(prompts) for it that wait here" : " and its history here"
        try await confirmation.confirm(
            "Forget \(TerminalText.line(chosen.name))\(kept)?",
            code: "host.unconfirmed",
            output: output
        )
        let forgotten = try HostsCommand.change(output) { hosts in
            let forgotten = try PairedHostSelection.select(host, in: hosts)
            hosts.forget(forgotten.id)
            return forgotten
        }
        try forgotten.outbox(environment).removeAll()
        await LocalHistory.forget(forgotten, in: environment)
        try forgotten.family.behavior.forget(forgotten, environment: environment)
        output.result(PairedHostRow(forgotten, isDefault: false), id: forgotten.id) {
            "Forgot \(TerminalText.line(forgotten.name))."
        }
        if waiting > 0 { output.say("Removed \(prompts) that waited for it.") }
        if forgotten.offers(.devices) {
            output.say(
                "Unless you revoked this device, \(TerminalText.line(forgotten.name)) still lists it: remove it there."
            )
        }
    }
}
