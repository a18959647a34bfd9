import ArgumentParser
import CompanionHost

struct HostRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End a device's access at once, with its sessions, streams and turns.",
        discussion: """
            Example:
              pairtool host revoke laptop
            """
    )

    @Argument(help: "The device, by name or id prefix.")
    var device: String

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let device = try await output.adminDevice(device)
        var request = AdminRequest(.revoke)
        request.device = device.id
        _ = try await output.ask(request)
        output.adminDevice(device) {
            TerminalText.line("\(device.name) (\(device.id)) was revoked. To come back, it has to pair again.")
        }
    }
}
