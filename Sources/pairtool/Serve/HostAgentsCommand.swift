import ArgumentParser
import CompanionHost
import CompanionWire
import HostOwner
import PairingAgent
import Terminal

struct HostAgentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agents",
        abstract: "List the agents that a host on this machine can run, and which are installed.",
        discussion: """
            A model without an agent needs no program: pairtool host --agent openai --model NAME --url URL.

            SIGN-IN shows where credentials were found: a variable or a file. “not found” does not mean that the agent is \
            signed out, because some agents use a keyring.

            Examples:
              pairtool host agents
              pairtool host agents --installed --json
              pairtool host agents --registry registry.json
            """
    )

    @Flag(help: "List only the agents that are installed.")
    var installed = false

    @Option(
        help: ArgumentHelp(
            "List the agents of this copy of the public registry instead: a file, or an https URL.",
            valueName: "place"
        )
    )
    var registry: String?

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if installed, registry != nil { throw ValidationError("Use --installed or --registry, not both.") }
    }

    func run() async throws {
        let output = options.output
        if let registry {
            let found = try await RegistryPlace(text: registry).read(in: output.environment())
            return output.list(registry: found)
        }
        var rows = await RunnableAgent.all(environment: output.context.environment)
        if installed { rows.removeAll { $0.path == nil } }
        guard !rows.isEmpty else {
            throw AppError.empty("No agent is installed", next: "pairtool host agents")
        }
        output.list(
            rows,
            columns: [
                TableColumn("AGENT", rank: 0) { $0.id },
                TableColumn("NAME", shrinks: true, rank: 3) { $0.name },
                TableColumn("VERSION", shrinks: true, rank: 2) { $0.path == nil ? "–" : $0.version ?? "unknown" },
                TableColumn("SIGN-IN", shrinks: true, rank: 1) { row in
                    row.path == nil ? "not installed" : row.credentials ?? "not found: \(row.signIn)"
                },
            ],
            id: \.id
        )
        guard output.format == .text else { return }
        for row in rows where row.path == nil { output.say("To install \(row.id): \(row.install)", indent: 2) }
        output.say("Looked in: \(AgentProgram.searchPath.parts(":").joined(separator: ", "))", indent: 2)
        output.say("To run one: pairtool host --agent NAME")
    }
}

extension Output {
    /// Lists the agents of a registry, with what would be run.
    fileprivate func list(registry: AgentRegistry) {
        list(
            registry.entries,
            columns: [
                TableColumn("AGENT", rank: 0) { $0.id },
                TableColumn("NAME", shrinks: true, rank: 3) { $0.name },
                TableColumn("VERSION", shrinks: true, rank: 2) { $0.version },
                TableColumn("COMMAND", shrinks: true, rank: 1) { $0.commandLine },
            ],
            id: \.id
        )
        guard format == .text else { return }
        for entry in registry.entries {
            guard let archive = entry.archive else { continue }
            say("To install \(entry.id): download \(archive)", indent: 2)
        }
        say("To run one: pairtool host --agent NAME --registry PLACE")
    }
}
