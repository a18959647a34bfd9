import ArgumentParser
import CompanionWire

/// The permissions that a device gets.
struct GrantOptions: ParsableArguments {
    @Flag(help: "Give devices that pair permission to read only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help: "Give devices that pair this permission only (repeatable). Default: all that they request."
    )
    var allowed: [PermissionArgument] = []

    mutating func validate() throws {
        if readOnly, !allowed.isEmpty { throw ValidationError("--read-only and --permission cannot be used together.") }
    }

    /// nil grants everything that a device asks for.
    var permissions: [CompanionPermission]? {
        readOnly ? [] : allowed.isEmpty ? nil : allowed.map(\.permission)
    }
}

/// A permission on the command line.
struct PermissionArgument: ExpressibleByArgument {
    let permission: CompanionPermission

    init?(argument: String) {
        permission = CompanionPermission(rawValue: argument)
        guard CompanionPermission.all.contains(permission) else { return nil }
    }

    static var allValueStrings: [String] { CompanionPermission.all.map(\.rawValue) }
}

/// A duration on the command line: `90s`, `30m`, `12h`, `7d`, or seconds without a unit.
struct SpanArgument {
    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    let seconds: Double

    /// - Throws: `ValidationError` with the valid forms.
    init(commandLine argument: String) throws {
        var digits = Substring(argument)
        let unit = argument.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard let count = Double(digits), count.isFinite, count > 0, count * (unit ?? 1) <= 1e9 else {
            throw ValidationError("Give a time such as 90s, 30m, 12h or 7d.")
        }
        seconds = count * (unit ?? 1)
    }
}
