import ArgumentParser
import CompanionWire

/// The permissions that a device gets.
struct GrantOptions: ParsableArguments {
    @Flag(help: "Give new devices read permission only.")
    var readOnly = false

    @Option(
        name: .customLong("permission"),
        help: "Give new devices this permission only (repeatable). Default: all that they request.",
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
