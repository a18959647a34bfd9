import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionHost
import CompanionWire
import PairingAgent
import Subprocess
import SystemPackage
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
            """
    )

    @Flag(help: "List only the agents that are installed.")
    var installed = false

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        let environment = output.context.environment
        var rows: [HostAgentRow] = []
        await withTaskGroup(of: (Int, HostAgentRow).self) { group in
            for (index, preset) in AgentPreset.all.enumerated() {
                group.addTask { (index, await HostAgentRow(preset, environment: environment)) }
            }
            var found: [(Int, HostAgentRow)] = []
            for await row in group { found.append(row) }
            rows = found.sorted { $0.0 < $1.0 }.map(\.1)
        }
        if installed { rows.removeAll { $0.path == nil } }
        guard !rows.isEmpty else {
            throw AppError(.nothingFound, "agent.none", "no agent is installed", next: "pairtool host agents")
        }
        output.list(
            rows,
            columns: [
                TableColumn("AGENT", rank: 0) { $0.id },
                TableColumn("NAME", shrinks: true, rank: 3) { $0.name },
                TableColumn("VERSION", shrinks: true, rank: 2) { $0.path == nil ? "–" : $0.version ?? "unknown" },
                TableColumn("SIGN-IN", shrinks: true, rank: 1) { row in
                    row.path == nil ? "not installed: \(row.install)" : row.credentials ?? "not found: \(row.signIn)"
                },
            ],
            id: \.id
        )
        if output.format == .text { output.say("To run one: pairtool host --agent NAME") }
    }
}

/// An agent that a host can run, in JSON.
struct HostAgentRow: Encodable, Sendable {
    var id: String
    var name: String
    /// The program, with its arguments.
    var command: [String]
    /// The path of the program; nil if it is not installed.
    var path: String?
    var version: String?
    /// The variable or file with credentials; nil if none was found.
    var credentials: String?
    /// How to install it.
    var install: String
    /// How to sign in.
    var signIn: String

    init(_ preset: AgentPreset, environment: [String: String]) async {
        id = preset.id
        name = preset.name
        install = preset.install
        signIn = preset.signIn
        let installed = preset.installed
        command = installed?.command ?? preset.commands.first ?? []
        path = installed?.path
        guard let path else { return }
        credentials = preset.credentials(in: environment)
        var variables = AgentEnvironment().variables(of: environment)
        variables["PATH"] = AgentProgram.searchPath
        version = await Self.version(of: path, environment: variables)
    }

    /// The first line that a program prints for `--version`; nil if it prints none within five seconds.
    private static func version(of path: String, environment: [String: String]) async -> String? {
        let variables = environment.map { (Environment.Key(stringLiteral: $0), $1) }
        let result = try? await withTimeLimit(.seconds(5)) {
            try await Subprocess.run(
                .path(FilePath(path)),
                arguments: ["--version"],
                environment: .custom(Dictionary(uniqueKeysWithValues: variables)),
                input: .none,
                output: .string(limit: 64 << 10),
                error: .discarded
            )
        }
        guard let result, result.terminationStatus.isSuccess else { return nil }
        let line = result.standardOutput.parts("\n").first?.trimmingWhitespace()
        return line.flatMap { $0.isEmpty ? nil : $0.scalars(atMost: 100) }
    }
}
