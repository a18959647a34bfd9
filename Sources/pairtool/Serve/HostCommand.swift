import ArgumentParser

struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Run a host, and manage its devices, questions and rules.",
        discussion: """
            Without a subcommand, this is `pairtool host run`, with its options. The other subcommands manage the host \
            that you run on this machine.

            Examples:
              pairtool host --lan --project ~/src/garden
              pairtool host pair --read-only --expires 7d
              pairtool host devices
            """,
        subcommands: [
            HostRunCommand.self, HostPairCommand.self, HostDevicesCommand.self, HostRevokeCommand.self,
            HostPermissionsCommand.self, HostUnlockCommand.self, HostStatusCommand.self, HostAuditCommand.self,
            HostAgentsCommand.self, HostApprovalsCommand.self, HostRulesCommand.self,
            HostWorktreesCommand.self, HostChangesCommand.self, HostNotifyCommand.self,
        ],
        defaultSubcommand: HostRunCommand.self
    )
}
