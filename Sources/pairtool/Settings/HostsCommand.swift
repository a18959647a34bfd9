import ArgumentParser
import PairingAgent

struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "List the paired hosts; set the default, rename or forget one.",
        discussion: """
            Examples:
              pairtool hosts
              pairtool hosts default Studio
              pairtool hosts forget Studio
            """,
        subcommands: [
            HostsListCommand.self, HostsDefaultCommand.self, HostsRenameCommand.self, HostsForgetCommand.self,
        ],
        defaultSubcommand: HostsListCommand.self
    )

    static func change<R>(_ output: Output, _ body: (inout PairedHosts) throws -> R) throws -> R {
        try PairedHostStore(directory: output.context.paths.data).update(body)
    }
}
