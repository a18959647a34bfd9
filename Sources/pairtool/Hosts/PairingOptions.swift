import ArgumentParser
import CompanionWire

/// What this device asks of a host when it pairs, and what it accepts.
struct PairingOptions: ParsableArguments {
    @Option(help: "What the host shall list this device as. Default: this machine's name.")
    var name: String?

    @Flag(help: "Ask for reading only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help:
            "Ask for this permission only: chat.create, chat.send, project.create or session.create (repeatable). Default: all."
    )
    var permissions: [CompanionPermission] = []

    @Flag(help: "Accept a host that proves nothing and speaks plain HTTP.")
    var allowLegacy = false

    @Option(help: "Refuse a host that proves less: verified.")
    var require: RequiredTrust?

    mutating func validate() throws {
        if let name { try NameRule.check(name) }
        if readOnly, !permissions.isEmpty { throw ValidationError("--read-only and --permission exclude each other.") }
        if allowLegacy, require == .verified {
            throw ValidationError("--allow-legacy and --require verified exclude each other.")
        }
    }

    var deviceName: String { name?.trimmingBlanks() ?? MachineName.current }

    /// What is asked for.
    var wanted: [CompanionPermission] { readOnly ? [] : permissions.isEmpty ? CompanionPermission.all : permissions }

    /// Whether that is less than everything, which protocol v1 does not know.
    var isLimited: Bool { readOnly || !permissions.isEmpty }
}

extension CompanionPermission: ExpressibleByArgument {
    init?(argument: String) {
        let permission = CompanionPermission(rawValue: argument)
        guard Self.all.contains(permission) else { return nil }
        self = permission
    }

    static var allValueStrings: [String] { all.map(\.rawValue) }
}
