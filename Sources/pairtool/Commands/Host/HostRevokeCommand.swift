import ArgumentParser
import CompanionHost

struct HostRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Shut a device out: its sessions, streams and turns end at once."
    )

    @Argument(help: "The device, by id prefix or name (pairtool host devices).")
    var device: String

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let device = try await output.adminDevice(device)
        var request = AdminRequest(.revoke)
        request.device = device.id
        _ = try await output.ask(request)
        output.adminDevice(device) {
            TerminalText.line("\(device.name) (\(device.id)) is shut out. It can only come back by pairing again.")
        }
    }
}
