import ArgumentParser

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the devices that have paired with the host, or revoke one.",
        subcommands: [DevicesListCommand.self, DevicesRevokeCommand.self],
        defaultSubcommand: DevicesListCommand.self
    )
}
