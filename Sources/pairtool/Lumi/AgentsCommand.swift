import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

struct AgentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agents",
        abstract: "List, search, show and star the agents that were pulled from a Lumi host.",
        discussion: """
            `pairtool lumi sync` pulls them. `pairtool chat --project AGENT` chats with one.

            Examples:
              pairtool lumi agents
              pairtool lumi agents search brief
              pairtool lumi agents show Ada
            """,
        subcommands: [List.self, Search.self, Show.self, Star.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
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
            let pulled = try host.pulledHost(options.output)
            try AgentsCommand.list(pulled, "pairtool lumi sync") { _, isStarred in !starred || isStarred }
        }
    }

    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "List the agents with a text in their name, model, provider or system prompt.",
            discussion: """
                Examples:
                  pairtool lumi agents search brief
                  pairtool lumi agents search "short answers" --json
                """
        )

        @Argument(help: "The text, in upper or lower case.")
        var text: String

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let pulled = try host.pulledHost(options.output)
            let text = text.lowercased()
            try AgentsCommand.list(pulled, "pairtool lumi agents") { agent, _ in
                let configuration = agent.configuration
                let places = [
                    agent.name, configuration.provider, configuration.model, configuration.systemPrompt ?? "",
                ]
                return (places + agent.capabilities).contains { $0.lowercased().contains(text) }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the details of an agent.",
            discussion: """
                Examples:
                  pairtool lumi agents show Ada
                  pairtool lumi agents show Ada --json
                """
        )

        @Argument(help: "The agent, by name or id prefix.")
        var agent: String

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let pulled = try host.pulledHost(options.output)
            let agent = try pulled.agent(agent)
            let row = AgentRow(agent, isStarred: try pulled.store.starred().contains(agent.id), withPrompt: true)
            let now = pulled.output.context.now()
            pulled.output.result(row, id: row.id) { row.text(now: now) }
        }
    }

    struct Star: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "star",
            abstract: "Star an agent, on this machine only.",
            discussion: """
                Examples:
                  pairtool lumi agents star Ada
                  pairtool lumi agents star Ada --remove
                """
        )

        @Argument(help: "The agent, by name or id prefix.")
        var agent: String

        @Flag(help: "Remove the star.")
        var remove = false

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let pulled = try host.pulledHost(options.output)
            let agent = try pulled.agent(agent)
            try pulled.store.star(agent.id, !remove)
            let row = AgentRow(agent, isStarred: !remove, withPrompt: false)
            pulled.output.result(row, id: row.id) {
                "\(TerminalText.line(agent.name)) is \(remove ? "no longer starred" : "starred")."
            }
        }
    }

    fileprivate static func list(
        _ pulled: PulledHost,
        _ next: String,
        where isWanted: (LumiAgent, _ isStarred: Bool) -> Bool
    ) throws {
        let starred = try pulled.store.starred()
        let rows = try pulled.agents()
            .filter { isWanted($0, starred.contains($0.id)) }
            .map { AgentRow($0, isStarred: starred.contains($0.id), withPrompt: false) }
            .sorted { ($0.isStarred ? 0 : 1, $0.name.lowercased()) < ($1.isStarred ? 0 : 1, $1.name.lowercased()) }
        guard !rows.isEmpty else {
            throw CommandError(.nothingFound, "agent.none", "no agent matches", next: next)
        }
        pulled.output.list(
            rows,
            columns: [
                TableColumn("", rank: 0) { $0.isStarred ? "★" : " " },
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("PROVIDER", rank: 3) { $0.provider },
                TableColumn("MODEL", shrinks: true) { $0.model },
                TableColumn("STATUS", rank: 2) { $0.status },
                TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
            ],
            id: \.id
        )
    }
}

/// An agent in JSON.
struct AgentRow: Encodable {
    var id: String
    var name: String
    var provider: String
    var model: String
    var status: String
    var isStarred: Bool
    var temperature: Double?
    var maxTokens: Int?
    var capabilities: [String]
    var enabledTools: [String]
    /// Only with `show`.
    var systemPrompt: String?
    var createdAt: Date?
    var updatedAt: Date?

    init(_ agent: LumiAgent, isStarred: Bool, withPrompt: Bool) {
        id = LumiStore.id(agent.id)
        name = agent.name
        provider = agent.configuration.provider
        model = agent.configuration.model
        status = agent.status
        self.isStarred = isStarred
        temperature = agent.configuration.temperature
        maxTokens = agent.configuration.maxTokens
        capabilities = agent.capabilities
        enabledTools = agent.configuration.enabledTools
        systemPrompt = withPrompt ? agent.configuration.systemPrompt : nil
        createdAt = agent.createdAt
        updatedAt = agent.updatedAt
    }

    func text(now: Date) -> String {
        var lines = [
            "\(name)\(isStarred ? " ★" : "")", "id: \(id)", "provider: \(provider)", "model: \(model)",
            "status: \(status)",
        ]
        if let temperature { lines.append("temperature: \(temperature)") }
        if let maxTokens { lines.append("token limit: \(maxTokens)") }
        if !capabilities.isEmpty { lines.append("capabilities: \(capabilities.joined(separator: ", "))") }
        if !enabledTools.isEmpty { lines.append("tools on the Mac: \(enabledTools.joined(separator: ", "))") }
        lines.append("updated: \(TimeText.ago(updatedAt, now: now))")
        let text = lines.map(TerminalText.line).joined(separator: "\n")
        return systemPrompt.map { "\(text)\n\n\(TerminalText.block($0))" } ?? text
    }
}
