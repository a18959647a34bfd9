import ArgumentParser
import CompanionWire

/// Options for what this device requests when it pairs, and what it accepts.
struct PairingOptions: ParsableArguments {
    @Option(help: "The name under which the host lists this device. Default: this machine's name.")
    var name: String?

    @Flag(help: "Request permission to read only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help:
            "Request this permission only (repeatable). Default: all."
    )
    var permissions: [CompanionPermission] = []

    @Flag(help: "Accept a host that proves nothing and uses plain HTTP.")
    var allowLegacy = false

    @Option(help: "Refuse a host that is not verified.")
    var require: RequiredTrust?

    mutating func validate() throws {
        if let name { try NameRule.check(name) }
        if readOnly, !permissions.isEmpty {
            throw ValidationError("--read-only and --permission cannot be used together.")
        }
        if allowLegacy, require == .verified {
            throw ValidationError("--allow-legacy and --require verified cannot be used together.")
        }
    }

    var deviceName: String { name?.trimmingWhitespace() ?? MachineName.current }

    /// The permissions to request besides reading.
    var wanted: [CompanionPermission] { readOnly ? [] : permissions.isEmpty ? CompanionPermission.all : permissions }

    /// Whether fewer than all permissions are requested. Protocol v1 has no permissions.
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
