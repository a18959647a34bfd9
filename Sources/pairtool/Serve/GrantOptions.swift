import ArgumentParser
import CompanionWire

/// The permissions that a device gets.
struct GrantOptions: ParsableArguments {
    @Flag(help: "Give devices that pair permission to read only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help: "Give devices that pair this permission only (repeatable). Default: all that they request.",
        completion: .list(CompanionPermission.words),
        transform: CompanionPermission.init(commandLine:)
    )
    var allowed: [CompanionPermission] = []

    mutating func validate() throws {
        if readOnly, !allowed.isEmpty { throw ValidationError("--read-only and --permission cannot be used together.") }
    }

    /// nil grants everything that a device asks for.
    var permissions: [CompanionPermission]? {
        readOnly ? [] : allowed.isEmpty ? nil : allowed
    }
}
