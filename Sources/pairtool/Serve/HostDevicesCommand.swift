import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct HostDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that are paired with the running host, and their permissions.",
        discussion: """
            Examples:
              pairtool host devices
              pairtool host devices --json
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let devices = try await output.owner.devices()
        guard !devices.isEmpty else {
            throw AppError.empty("No device is paired yet", next: "pairtool host pair")
        }
        let now = output.context.now()
        output.list(
            devices,
            columns: [
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("MAY", shrinks: true) { $0.rights },
                TableColumn("VIA", rank: 2) { $0.via?.rawValue ?? "–" },
                TableColumn("UNTIL", rank: 2) { row in row.expiresAt.map { Self.until($0, now: now) } ?? "–" },
                TableColumn("PAIRED", rank: 4) { TimeText.ago($0.pairedAt, now: now) },
                TableColumn("SEEN", rank: 3) { TimeText.ago($0.lastSeenAt, now: now) },
                TableColumn("V", rank: 5) { "\($0.protocolVersion)" },
                TableColumn("ID", rank: 0) { $0.id },
            ],
            id: \.id
        )
    }

    private static func until(_ end: Date, now: Date) -> String {
        end > now ? "in \(TimeText.span(end.timeIntervalSince(now)))" : "over"
    }
}

struct HostPermissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permissions",
        abstract: "Show or change a device's permissions.",
        discussion: """
            The permissions are: \(CompanionPermission.all.map(\.rawValue).joined(separator: ", ")).

            Examples:
              pairtool host permissions laptop --add approve
              pairtool host permissions laptop --via direct,mesh
              pairtool host permissions laptop --read-only
            """
    )

    @Argument(
        help: "The device, by name or id prefix.",
        completion: .custom { _, _, _ in await Completions.ownDevices() }
    )
    var device: String

    @Option(
        name: .customLong("permission"),
        help: "Allow only this, besides reading (repeatable).",
        completion: .list(CompanionPermission.words),
        transform: CompanionPermission.init(commandLine:)
    )
    var allowed: [CompanionPermission] = []

    @Option(
        help: "Also allow this (repeatable).",
        completion: .list(CompanionPermission.words),
        transform: CompanionPermission.init(commandLine:)
    )
    var add: [CompanionPermission] = []

    @Option(
        help: "No longer allow this (repeatable).",
        completion: .list(CompanionPermission.words),
        transform: CompanionPermission.init(commandLine:)
    )
    var remove: [CompanionPermission] = []

    @Flag(help: "Allow reading only.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "The ways by which it may come: direct, mesh, ssh, relay, separated by commas; any for all.",
            valueName: "ways"
        ),
        transform: AllowedRungs.init(commandLine:)
    )
    var via: AllowedRungs?

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if readOnly, !allowed.isEmpty {
            throw ValidationError("--read-only and --permission cannot be used together.")
        }
        if readOnly || !allowed.isEmpty, !(add + remove).isEmpty {
            throw ValidationError("--add and --remove cannot be used with --permission or --read-only.")
        }
    }

    func run() async throws {
        let output = options.output
        var device = try await output.ownDevice(device)
        if readOnly || !(allowed + add + remove).isEmpty {
            let all = allowed + (add.isEmpty && remove.isEmpty ? [] : device.permissions) + add
            let wanted = all.unique.filter { !remove.contains($0) }
            device = try await output.owner.setPermissions(wanted, ofDevice: device.id)
        }
        if let via { device = try await output.owner.setRungs(via.rungs, ofDevice: device.id) }
        output.result(device, id: device.id) {
            let ways = device.rungs.map { ", only via " + $0.map(\.rawValue).joined(separator: ", ") } ?? ""
            return output.fitted(TerminalText.line("\(device.name) (\(device.id)) may: \(device.rights)\(ways)"))
        }
    }
}

/// The value of `--via`.
struct AllowedRungs: Sendable {
    /// Empty for all.
    var rungs: [HostRoute.Rung]

    /// - Throws: `ValidationError` for an unknown word.
    init(commandLine text: String) throws {
        guard text != "any" else {
            rungs = []
            return
        }
        rungs = try text.parts(",", omittingEmpty: false).map { word in
            guard let rung = HostRoute.Rung(rawValue: String(word)) else {
                let known = HostRoute.Rung.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError(
                    "“\(TerminalText.line(String(word)))” is not a way to a host. The ways are: \(known); or any."
                )
            }
            return rung
        }.unique
    }
}

struct HostRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a device's access, sessions, streams and turns immediately.",
        discussion: """
            Examples:
              pairtool host revoke laptop
              pairtool host revoke 5f1c0a9e
            """
    )

    @Argument(
        help: "The device, by name or id prefix.",
        completion: .custom { _, _, _ in await Completions.ownDevices() }
    )
    var device: String

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let device = try await output.ownDevice(device)
        try await output.owner.revokeDevice(id: device.id)
        output.result(device, id: device.id) {
            TerminalText.line("\(device.name) (\(device.id)) was revoked. To come back, it has to pair again.")
        }
    }
}
