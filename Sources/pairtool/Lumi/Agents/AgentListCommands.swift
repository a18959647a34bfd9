import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

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

struct AgentListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the agents, starred ones first.",
        discussion: """
            Examples:
              pairtool lumi agents list
              pairtool lumi agents list --starred --json
            """
    )

    @Flag(help: "List starred agents only.")
    var starred = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let pulled = try host.selector.pulledHost(options.environment)
        try pulled.listAgents(options.output, next: "pairtool lumi sync") { _, isStarred in !starred || isStarred }
    }
}

struct AgentSearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find agents by text in their name, model, provider or system prompt.",
        discussion: """
            Examples:
              pairtool lumi agents search brief
              pairtool lumi agents search "short answers" --json
            """
    )

    @Argument(help: "The text (case does not matter).")
    var text: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let pulled = try host.selector.pulledHost(options.environment)
        let text = text.lowercased()
        try pulled.listAgents(options.output, next: "pairtool lumi agents") { agent, _ in
            let configuration = agent.configuration
            let places = [
                agent.name, configuration.provider, configuration.model, configuration.systemPrompt ?? "",
            ]
            return (places + agent.capabilities).contains { $0.lowercased().contains(text) }
        }
    }
}

extension PulledHost {
    /// Lists the agents that are wanted.
    ///
    /// - Parameter next: The command that helps where there are none.
    func listAgents(
        _ output: Output,
        next: String,
        where isWanted: (LumiAgent, _ isStarred: Bool) -> Bool
    ) throws {
        let starred = try store.starred()
        let origin = try store.origins()
        let rows = try agents()
            .filter { isWanted($0, starred.contains($0.id)) }
            .map { AgentRow($0, isStarred: starred.contains($0.id), origin: origin($0.id)) }
            .sorted { ($0.isStarred ? 0 : 1, $0.name.lowercased()) < ($1.isStarred ? 0 : 1, $1.name.lowercased()) }
        guard !rows.isEmpty else {
            throw AppError.empty("No agent matches", next: next)
        }
        output.list(
            rows,
            columns: [
                TableColumn("", rank: 0) { $0.isStarred ? "★" : " " },
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("PROVIDER", rank: 3) { $0.provider },
                TableColumn("MODEL", shrinks: true) { $0.model },
                TableColumn("STATUS", rank: 2) { $0.status },
                .id { $0.id },
            ],
            id: \.id
        )
    }
}
