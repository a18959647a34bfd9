import ArgumentParser
import Terminal

/// The root of the command line.
struct Pairtool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pairtool",
        abstract: "Find, pair with and use the AI coding assistants on your network.",
        discussion: """
            Data goes to standard output, messages go to standard error. --json prints one JSON object per line.

            Examples:
              pairtool discover
              pairtool pair
              pairtool send --new "Which beds need water?" --project garden
            """,
        version: Version.text,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Find and pair",
                subcommands: [
                    DiscoverCommand.self, ScanCommand.self, QRCommand.self, PairCommand.self, AutoCommand.self,
                    HostsCommand.self, DoctorCommand.self,
                ]
            ),
            CommandGroup(
                name: "Use a paired host",
                subcommands: [
                    StatusCommand.self, ProjectsCommand.self, ChatsCommand.self, MessagesCommand.self, SendCommand.self,
                    ChatCommand.self, ChangesCommand.self, WorktreesCommand.self, OutboxCommand.self,
                    ModelsCommand.self, ApprovalsCommand.self, DevicesCommand.self, DisconnectCommand.self,
                    WatchCommand.self, SearchCommand.self, ExportCommand.self, HistoryCommand.self, ACPCommand.self,
                ]
            ),
            CommandGroup(name: "Run a host", subcommands: [HostCommand.self, RelayCommand.self]),
            CommandGroup(
                name: "Lumi, AICLI and Jarvis hosts",
                subcommands: [LumiCommand.self, AICLICommand.self, JarvisCommand.self]
            ),
        ]
    )
}
