import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Terminal

struct AgentShowCommand: AsyncParsableCommand {
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
        let pulled = try host.selector.pulledHost(options.environment)
        let agent = try pulled.agent(agent)
        let row = try pulled.row(agent)
        let output = options.output
        output.result(row, id: row.id) {
            let prompt = row.systemPrompt.map { "\n\n" + TerminalText.block($0) } ?? ""
            return output.fitted(row.facts(now: output.context.now())) + prompt
        }
    }
}

struct AgentStarCommand: AsyncParsableCommand {
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
        let pulled = try host.selector.pulledHost(options.environment)
        let agent = try pulled.agent(agent)
        try pulled.store.star(agent.id, isStarred: !remove)
        let row = AgentRow(agent, isStarred: !remove, origin: try pulled.store.origin(of: agent.id))
        options.output.result(row, id: row.id) {
            "\(TerminalText.line(agent.name)) is \(remove ? "no longer starred" : "starred")."
        }
    }
}
