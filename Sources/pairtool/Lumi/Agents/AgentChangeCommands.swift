import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct AgentCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an agent on this machine. Nothing goes to the Mac.",
        discussion: """
            Examples:
              pairtool lumi agents create Kit --provider ollama --model qwen3:8b
              pairtool lumi agents create Kit --provider openai --model gpt-5 --prompt "Answer in one sentence."
              pairtool lumi agents create Kit --provider ollama --model qwen3:8b --prompt-file - < prompt.md
            """
    )

    @Argument(help: "The agent's name, of at most 64 characters.")
    var name: String

    @OptionGroup var settings: AgentSettingsOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try NameRule.check(name)
        guard settings.provider != nil else { throw ValidationError("--provider is missing.") }
        guard settings.model != nil else { throw ValidationError("--model is missing.") }
    }

    func run() async throws {
        let output = options.output
        let pulled = try host.selector.pulledHost(options.environment)
        let name = name.trimmingWhitespace()
        try pulled.requireFree(name)
        var configuration = LumiAgent.Configuration(provider: "", model: "")
        try await settings.apply(to: &configuration, in: output.context)
        let now = output.context.now()
        let agent = LumiAgent(
            id: UUID(),
            name: name,
            configuration: configuration,
            createdAt: now,
            updatedAt: now
        )
        try pulled.store.keep(agent)
        let row = try pulled.row(agent)
        output.result(row, id: row.id) {
            "Created \(TerminalText.line(name)). To chat with it: pairtool chat --project \(row.id.shortID)"
        }
    }
}

struct AgentEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an agent on this machine. The Mac's agents are copied first.",
        discussion: """
            Without options, at a terminal, your editor opens with the system prompt. The Mac's own agent stays as it \
            is, even after the next sync. To go back to it: pairtool lumi agents restore AGENT.

            Examples:
              pairtool lumi agents edit Ada
              pairtool lumi agents edit Ada --model gpt-5 --temperature default
              pairtool lumi agents edit Ada --prompt-file prompt.md --json
            """
    )

    @Argument(help: "The agent, by name or id prefix.")
    var agent: String

    @Option(help: "The new name.")
    var name: String?

    @OptionGroup var settings: AgentSettingsOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let name { try NameRule.check(name) }
    }

    func run() async throws {
        let output = options.output
        let pulled = try host.selector.pulledHost(options.environment)
        let before = try pulled.agent(agent)
        var (agent, settings) = (before, settings)
        if name == nil, settings.isEmpty {
            guard output.context.canAsk else {
                throw AppError(
                    .usage,
                    "agent.nothing_to_change",
                    "there is nothing to change",
                    next: "pairtool lumi agents edit --help"
                )
            }
            settings.editor = true
        }
        if let name = name?.trimmingWhitespace() {
            try pulled.requireFree(name, but: agent.id)
            agent.name = name
        }
        try await settings.apply(to: &agent.configuration, in: output.context)
        if agent != before {
            agent.updatedAt = output.context.now()
            try pulled.store.keep(agent)
        }
        let row = try pulled.row(agent)
        let shown = TerminalText.line(agent.name)
        output.result(row, id: row.id) { agent == before ? "\(shown) is as it was." : "Changed \(shown), here only." }
    }
}

struct AgentDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an agent on this machine. The Mac keeps its own.",
        discussion: """
            Chats with the agent are kept. An agent that was pulled from the Mac is hidden, even after the next sync. \
            To get it back: pairtool lumi agents restore AGENT. If the agent exists only here, you are asked first, \
            unless you add --yes.

            Examples:
              pairtool lumi agents delete Kit
              pairtool lumi agents delete Ada --json
            """
    )

    @Argument(help: "The agent, by name or id prefix.")
    var agent: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let pulled = try host.selector.pulledHost(options.environment)
        let agent = try pulled.agent(agent)
        let row = try pulled.row(agent)
        if row.origin == .here {
            try await confirmation.confirm(
                "Delete \(TerminalText.line(agent.name))? It is only on this machine.",
                code: "agent.unconfirmed",
                output: options.output
            )
        }
        try pulled.store.delete(agent.id)
        options.output.result(row, id: row.id) {
            let name = TerminalText.line(agent.name)
            guard row.origin == .here else {
                return "\(name) is hidden here. To have it back: pairtool lumi agents restore \(row.id.shortID)"
            }
            return "Deleted \(name)."
        }
    }
}

struct AgentRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Undo your changes to an agent, or its deletion.",
        discussion: """
            Examples:
              pairtool lumi agents restore Ada
              pairtool lumi agents restore Ada --json
            """
    )

    @Argument(help: "The agent, by its name on the Mac, or by id prefix.")
    var agent: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let pulled = try host.selector.pulledHost(options.environment)
        let agent = try NameMatch.find(
            agent,
            in: try pulled.store.changedAgents(),
            kind: "agent",
            listing: "pairtool lumi agents",
            ids: { LumiStore.ids($0.id) },
            names: { [$0.name] },
            nobody: "you changed or deleted no"
        )
        try pulled.store.restore(agent.id)
        let row = try pulled.row(agent)
        options.output.result(row, id: row.id) { "\(TerminalText.line(agent.name)) is as it was pulled." }
    }
}

extension PulledHost {
    /// An agent with its system prompt, for people and in JSON.
    func row(_ agent: LumiAgent) throws -> AgentRow {
        AgentRow(
            agent,
            isStarred: try store.starred().contains(agent.id),
            origin: try store.origin(of: agent.id),
            withPrompt: true
        )
    }

    /// - Throws: ``AppError`` if another agent has this name: then nobody could tell them apart.
    fileprivate func requireFree(_ name: String, but id: UUID? = nil) throws {
        let others = try store.loadAgents()?.items ?? []
        guard others.contains(where: { $0.id != id && $0.name.lowercased() == name.lowercased() }) else { return }
        throw AppError(
            .usage,
            "agent.exists",
            "there is an agent “\(name)” already",
            next: "choose another name, or change it: pairtool lumi agents edit '\(name)'"
        )
    }
}
