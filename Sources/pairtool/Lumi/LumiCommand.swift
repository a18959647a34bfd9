import ArgumentParser

struct LumiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lumi",
        abstract: "Control a Mac with Lumi, and pull and use its agents.",
        discussion: """
            Examples:
              pairtool lumi remote
              pairtool lumi sync
              pairtool lumi agents
            """,
        subcommands: [
            RemoteCommand.self, SyncCommand.self, AgentsCommand.self, AutomationsCommand.self, KeysCommand.self,
        ]
    )
}
