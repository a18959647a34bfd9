import ArgumentParser
import CompanionHost
import CompanionWire

struct HostPermissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permissions",
        abstract: "Show or change a device's permissions.",
        discussion: """
            The permissions are: \(CompanionPermission.all.map(\.rawValue).joined(separator: ", ")).

            Examples:
              pairtool host permissions laptop
              pairtool host permissions laptop --read-only
              pairtool host permissions laptop --permission chat.send
            """
    )

    @Argument(help: "The device, by name or id prefix.")
    var device: String

    @Option(name: .customLong("permission"), help: "Allow this and nothing else, besides reading (repeatable).")
    var allowed: [PermissionArgument] = []

    /// What `--permission` was called.
    @Option(parsing: .upToNextOption, help: .hidden)
    var set: [PermissionArgument] = []

    @Flag(help: "Allow reading only.")
    var readOnly = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if readOnly, !(allowed + set).isEmpty {
            throw ValidationError("--read-only and --permission cannot be used together.")
        }
    }

    func run() async throws {
        let output = options.output
        var device = try await output.adminDevice(device)
        let wanted = allowed + set
        if readOnly || !wanted.isEmpty {
            var request = AdminRequest(.permissions)
            request.device = device.id
            request.permissions = wanted.map(\.permission)
            guard let changed = try await output.ask(request).devices?.first else { throw CommandError.strangeAnswer }
            device = changed
        }
        output.adminDevice(device) {
            TerminalText.line("\(device.name) (\(device.id)) may: \(AdminDeviceRow(device).rights)")
        }
    }
}
