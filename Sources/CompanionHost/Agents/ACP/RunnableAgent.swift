import CompanionWire
import Subprocess
import SystemPackage

/// An agent that a host can run, as this machine has it; in JSON for scripts.
package struct RunnableAgent: Encodable, Sendable {
    package var id: String
    package var name: String
    /// The program, with its arguments.
    package var command: [String]
    /// The path of the program; nil if it is not installed.
    package var path: String?
    package var version: String?
    /// The variable or file with credentials; nil if none was found.
    package var credentials: String?
    /// How to install it.
    package var install: String
    /// How to sign in.
    package var signIn: String

    /// All that hosts know, in the usual order.
    ///
    /// - Parameter environment: The variables in which credentials may be.
    package static func all(environment: [String: String]) async -> [RunnableAgent] {
        await withTaskGroup(of: (Int, RunnableAgent).self) { group in
            for (index, preset) in AgentPreset.all.enumerated() {
                group.addTask { (index, await RunnableAgent(preset, environment: environment)) }
            }
            var found: [(Int, RunnableAgent)] = []
            for await agent in group { found.append(agent) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private init(_ preset: AgentPreset, environment: [String: String]) async {
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
