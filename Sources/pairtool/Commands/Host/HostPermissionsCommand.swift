import ArgumentParser
import CompanionHost
import CompanionWire

struct HostPermissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "permissions",
        abstract: "Show or change what a device may do besides reading.",
        discussion: "There are: \(CompanionPermission.all.map(\.rawValue).joined(separator: ", "))."
    )

    @Argument(help: "The device, by id prefix or name (pairtool host devices).")
    var device: String

    @Option(parsing: .upToNextOption, help: "What it may do from now on, and nothing else.")
    var set: [PermissionArgument] = []

    @Flag(help: "Let it read only from now on.")
    var readOnly = false

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if readOnly, !set.isEmpty { throw ValidationError("--read-only and --set exclude each other.") }
    }

    func run() async throws {
        let output = options.output
        var device = try await output.adminDevice(device)
        if readOnly || !set.isEmpty {
            var request = AdminRequest(.permissions)
            request.device = device.id
            request.permissions = set.map(\.permission)
            guard let changed = try await output.ask(request).devices?.first else { throw CommandError.strangeAnswer }
            device = changed
        }
        output.adminDevice(device) {
            TerminalText.line("\(device.name) (\(device.id)) may: \(AdminDeviceRow(device).rights)")
        }
    }
}
