import ArgumentParser

struct AgentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agents",
        abstract: "List, search, show, star, create, edit and delete the agents of a Lumi host.",
        discussion: """
            `pairtool lumi sync` pulls them. `pairtool chat --project AGENT` chats with one. Agents that you create, edit \
            or delete are changed on this machine only. The Mac keeps its own.

            Examples:
              pairtool lumi agents
              pairtool lumi agents show Ada
              pairtool lumi agents create Kit --provider ollama --model qwen3:8b
            """,
        subcommands: [
            AgentListCommand.self, AgentSearchCommand.self, AgentShowCommand.self, AgentStarCommand.self,
            AgentCreateCommand.self, AgentEditCommand.self, AgentDeleteCommand.self, AgentRestoreCommand.self,
        ],
        defaultSubcommand: AgentListCommand.self
    )
}
