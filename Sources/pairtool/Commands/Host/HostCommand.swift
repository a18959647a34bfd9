import ArgumentParser

struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Be a host: serve projects and an assistant to companions, and look after them.",
        discussion: """
            Without a subcommand it is `pairtool host run`, with its options. The other subcommands speak to the host of \
            yours that runs on this machine.
            """,
        subcommands: [
            HostRunCommand.self, HostPairCommand.self, HostDevicesCommand.self, HostRevokeCommand.self,
            HostPermissionsCommand.self, HostUnlockCommand.self, HostStatusCommand.self, HostAuditCommand.self,
        ],
        defaultSubcommand: HostRunCommand.self
    )
}
