import ArgumentParser

/// The root of the command line.
struct Pairtool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pairtool",
        abstract: "Find, pair with and use the machines on your network that host an AI coding assistant.",
        discussion: """
            Start with `pairtool discover`, then `pairtool pair`. Data goes to standard output, talk to standard error; \
            --json prints one JSON object a line.
            """,
        version: Version.text,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Finding and pairing",
                subcommands: [
                    DiscoverCommand.self, ScanCommand.self, QRCommand.self, PairCommand.self, AutoCommand.self,
                    HostsCommand.self, DoctorCommand.self,
                ]
            ),
            CommandGroup(
                name: "Using a paired host",
                subcommands: [
                    StatusCommand.self, ProjectsCommand.self, ChatsCommand.self, MessagesCommand.self, SendCommand.self,
                    ChatCommand.self, CancelCommand.self, NewCommand.self, ModelsCommand.self, DevicesCommand.self,
                    DisconnectCommand.self, WatchCommand.self, CapabilitiesCommand.self,
                ]
            ),
            CommandGroup(name: "Lumi hosts", subcommands: [RemoteCommand.self, SyncCommand.self]),
            CommandGroup(name: "AICLI hosts", subcommands: [SessionsCommand.self, OutboxCommand.self]),
            CommandGroup(name: "Jarvis hosts", subcommands: [ApprovalsCommand.self]),
            CommandGroup(
                name: "Agents of Lumi hosts",
                subcommands: [
                    AgentsCommand.self, SearchCommand.self, AutomationsCommand.self, KeysCommand.self,
                ]
            ),
            CommandGroup(name: "Being a host", subcommands: [HostCommand.self]),
        ]
    )
}
