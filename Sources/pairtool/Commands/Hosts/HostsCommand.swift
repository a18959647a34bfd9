import ArgumentParser
import PairingAgent

struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "List the paired hosts; choose the default, rename or forget one.",
        subcommands: [
            HostsListCommand.self, HostsDefaultCommand.self, HostsRenameCommand.self, HostsForgetCommand.self,
        ],
        defaultSubcommand: HostsListCommand.self
    )

    static func change<R>(_ output: Output, _ body: (inout PairedHosts) throws -> R) throws -> R {
        try PairedHostStore(directory: output.context.paths.data).update(body)
    }
}
