import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import Terminal

struct HostRulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Decide beforehand what the running host's agent may do without asking you.",
        discussion: """
            A rule says allow, ask or deny, for a kind of tool, the first words of a command, or a path. \
            Deny rules win over ask rules, and ask rules over allow rules; without a rule you are asked. A command with \
            quotes, variables or several parts is never allowed by its first words. Rules trust what the agent reports \
            about its tools: they save you questions, but they are not a sandbox.

            Examples:
              pairtool host rules
              pairtool host rules add allow --kind read
              pairtool host rules add allow --command "git status" --project ~/src/garden
            """,
        subcommands: [List.self, HostRuleAddCommand.self, HostRuleRemoveCommand.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the rules.",
            discussion: """
                Examples:
                  pairtool host rules list
                  pairtool host rules list --json
                """
        )

        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            let (rules, faults) = try await output.owner.rules()
            for fault in faults { output.say(TerminalText.line("\(fault).")) }
            guard !rules.isEmpty else {
                throw AppError.empty("No rules: the agent asks", next: "pairtool host rules add allow --kind read")
            }
            output.list(
                rules,
                columns: [
                    TableColumn("ID", rank: 0) { "\($0.id)" },
                    TableColumn("RULE", shrinks: true, rank: 0) { $0.text },
                    TableColumn("PROJECT", rank: 1) { $0.projectName ?? $0.projectId ?? "all" },
                ],
                id: { "\($0.id)" }
            )
        }
    }
}

extension AgentRule.Effect: ExpressibleByArgument {}

struct HostRuleAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a rule.",
        discussion: """
            The kinds of tools are \(AgentRule.kinds.joined(separator: ", ")). If you give several conditions, all of \
            them have to hold. A rule has a command or a path, not both: a path applies to tools that read or change \
            files. Path rules do not apply to commands, but you are asked about a command that names the path of a \
            deny or ask rule, or a directory above it.

            Examples:
              pairtool host rules add allow --kind edit --path docs
              pairtool host rules add deny --path .git
              pairtool host rules add ask --command "git push"
            """
    )

    @Argument(help: "What the rule does: allow, ask or deny.")
    var effect: AgentRule.Effect

    @Option(help: "For this kind of tool.", completion: .list(AgentRule.kinds))
    var kind: String?

    @Option(help: "For commands that begin with these words, whatever options follow.")
    var command: String?

    @Option(help: "For this file or directory, relative to the project.", completion: .file())
    var path: String?

    @Option(help: "For this project only, by path, name or id. Default: all projects.", completion: .directory)
    var project: String?

    @OptionGroup var options: OutputOptions

    private var rule: AgentRule { AgentRule(effect: effect, kind: kind, command: command, path: path) }

    func validate() throws {
        if let fault = rule.fault { throw ValidationError(fault) }
    }

    func run() async throws {
        let output = options.output
        let rule = try await output.owner.addRule(rule, project: project.map { RealPath.of($0) ?? $0 })
        output.result(rule, id: "\(rule.id)") { TerminalText.line("Rule \(rule.id): \(rule.text)") }
    }
}

struct HostRuleRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a rule.",
        discussion: """
            Examples:
              pairtool host rules remove 3
              pairtool host rules remove 3 --json
            """
    )

    @Argument(help: "The rule, by its id.")
    var id: Int64

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let rule = try await output.owner.removeRule(id: id)
        output.result(rule, id: "\(rule.id)") { TerminalText.line("Removed rule \(rule.id): \(rule.text)") }
    }
}
