import ArgumentParser
import CompanionApp
import CompanionWire

/// Options for what this device requests when it pairs, and what it accepts.
struct PairingOptions: ParsableArguments {
    @Option(help: "The name under which the host lists this device. Default: this machine's name.")
    var name: String?

    @Flag(help: "Request read permission only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help:
            "Request this permission only (repeatable). Default: all.",
        completion: .list(CompanionPermission.words),
        transform: CompanionPermission.init(commandLine:)
    )
    var permissions: [CompanionPermission] = []

    @Flag(help: "Accept a host that proves nothing and uses plain HTTP.")
    var allowLegacy = false

    @Option(help: ArgumentHelp("Refuse a host that is not verified.", valueName: "trust"))
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

extension CompanionPermission {
    /// All permissions, as they are written on the command line.
    static var words: [String] { all.map(\.rawValue) }

    /// - Throws: `ValidationError` for an unknown one, with the nearest known one.
    init(commandLine word: String) throws {
        guard let known = Self.all.first(where: { $0.rawValue.isSame(as: word) }) else {
            let near = NearestWord.of(word, in: Self.words).map { "Did you mean \($0)? " } ?? ""
            throw ValidationError("\(near)The permissions are \(Self.words.joined(separator: ", ")).")
        }
        self = known
    }
}
