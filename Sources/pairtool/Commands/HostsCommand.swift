import ArgumentParser
import CompanionWire
import FoundationEssentials
import PairingAgent

struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "List the paired hosts; choose the default, rename or forget one.",
        subcommands: [List.self, Default.self, Rename.self, Forget.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the paired hosts.")

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let hosts = try PairedHostStore(directory: output.context.paths.data).load()
            guard !hosts.hosts.isEmpty else {
                throw CommandError(.nothingFound, "hosts.none", "no host is paired yet", next: "pairtool pair")
            }
            let now = output.context.now()
            output.list(
                hosts.hosts.map { PairedHostRow($0, isDefault: $0.id == hosts.defaultID) },
                columns: [
                    TableColumn("") { $0.isDefault ? "*" : " " },
                    TableColumn("NAME", shrinks: true) { $0.name },
                    TableColumn("FAMILY") { $0.family.displayName },
                    TableColumn("TRUST") { $0.trust.rawValue },
                    TableColumn("ADDRESS") { "\($0.endpoint)" },
                    TableColumn("PAIRED") { TimeText.ago($0.pairedAt, now: now) },
                    TableColumn("ID") { String($0.id.prefix(8)) },
                ],
                id: \.id
            )
        }
    }

    struct Default: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "default",
            abstract: "Set the host that commands speak to when none is named."
        )

        @Argument(help: "Name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
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

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rename", abstract: "Give a host another name.")

        @Argument(help: "Name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
        var host: String
        @Argument(help: "The new name.")
        var name: String
        @OptionGroup var options: OutputOptions

        func validate() throws {
            try NameRule.check(name)
        }

        func run() async throws {
            let output = options.output
            let name = name.trimmingBlanks()
            let (renamed, isDefault) = try HostsCommand.change(output) { hosts in
                var renamed = try PairedHostSelection.select(host, in: hosts)
                if let other = hosts.hosts.first(where: { $0.id != renamed.id && $0.name == name }) {
                    throw CommandError(
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

    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Forget a host. The host itself is not told: disconnect first."
        )

        @Argument(help: "Name or id prefix.", completion: .custom { _, _, _ in Completions.hosts() })
        var host: String
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let forgotten = try HostsCommand.change(output) { hosts in
                let forgotten = try PairedHostSelection.select(host, in: hosts)
                hosts.forget(forgotten.id)
                return forgotten
            }
            try SessionTokenStore(directory: output.context.paths.data).forget(hostID: forgotten.id)
            try AICLISessions.forget(forgotten, context: output.context)
            if forgotten.family == .lumi { try LumiSessions.forget(forgotten, context: output.context) }
            output.result(PairedHostRow(forgotten, isDefault: false), id: forgotten.id) {
                "Forgot \(TerminalText.line(forgotten.name))."
            }
        }
    }

    fileprivate static func change<R>(_ output: Output, _ body: (inout PairedHosts) throws -> R) throws -> R {
        try PairedHostStore(directory: output.context.paths.data).update(body)
    }
}

/// A paired host in JSON.
struct PairedHostRow: Encodable {
    var id: String
    var name: String
    var family: HostFamily
    var trust: HostTrust
    var endpoint: CompanionEndpoint
    var deviceID: String
    var pairedAt: Date
    var lastSeenAt: Date?
    var isDefault: Bool
    var spki: String?
    var permissions: [CompanionPermission]?
    /// Of a Jarvis daemon.
    var fallbackURL: String?

    init(_ host: PairedHost, isDefault: Bool) {
        id = host.id
        name = host.name
        family = host.family
        trust = host.trust
        endpoint = host.endpoint
        deviceID = host.deviceID
        pairedAt = host.pairedAt
        lastSeenAt = host.lastSeenAt
        self.isDefault = isDefault
        spki = host.spki
        permissions = host.permissions
        fallbackURL = host.fallbackURL
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, family, trust, address, port, deviceId, pairedAt, lastSeenAt, isDefault, spki, permissions,
            fallbackUrl
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(family, forKey: .family)
        try container.encode(trust, forKey: .trust)
        try container.encode(endpoint.address, forKey: .address)
        try container.encode(endpoint.port, forKey: .port)
        try container.encode(deviceID, forKey: .deviceId)
        try container.encode(pairedAt, forKey: .pairedAt)
        try container.encodeIfPresent(lastSeenAt, forKey: .lastSeenAt)
        try container.encode(isDefault, forKey: .isDefault)
        try container.encodeIfPresent(spki, forKey: .spki)
        try container.encodeIfPresent(permissions, forKey: .permissions)
        try container.encodeIfPresent(fallbackURL, forKey: .fallbackUrl)
    }
}
