import ArgumentParser
import CompanionHost
import CompanionWire

/// Which agent answers, and what it may do.
struct AgentOptions: ParsableArguments {
    @Option(help: "The agent that answers: builtin, or one of `pairtool host agents`.")
    var agent: AgentChoice?

    @Option(help: "Run this command, with its arguments, instead of the built-in agent.")
    var agentCommand: String?

    @Flag(help: "The command of --agent-command speaks the Agent Client Protocol.")
    var acp = false

    @Option(
        name: .customLong("agent-env"),
        help: "Let the agent have this environment variable (repeatable). Default: those that every program needs."
    )
    var agentVariables: [String] = []

    @Option(help: "When the agent asks to sign in, use its sign-in method with this id.")
    var agentSignIn: String?

    @Flag(help: "Allow modes of the agent in which it does everything without a question.")
    var allowBypass = false

    /// An agent on the command line.
    enum AgentChoice: ExpressibleByArgument {
        case builtin
        case preset(AgentPreset)

        init?(argument: String) {
            if argument == "builtin" {
                self = .builtin
            } else if let preset = AgentPreset.find(argument) {
                self = .preset(preset)
            } else {
                return nil
            }
        }

        static var allValueStrings: [String] { ["builtin"] + AgentPreset.all.map(\.id) }
    }

    mutating func validate() throws {
        if agent != nil, agentCommand != nil {
            throw ValidationError("--agent and --agent-command cannot be used together.")
        }
        if let agentCommand, ShellWords.split(agentCommand)?.isEmpty != false {
            throw ValidationError("--agent-command is empty or has an unclosed quote.")
        }
        if acp, agentCommand == nil { throw ValidationError("--acp needs --agent-command.") }
        if !speaksACP, !agentVariables.isEmpty || agentSignIn != nil || allowBypass {
            throw ValidationError(
                "--agent-env, --agent-sign-in and --allow-bypass need an agent of `pairtool host agents`, or --acp."
            )
        }
        guard agentVariables.allSatisfy(Self.isName) else {
            throw ValidationError("--agent-env needs the name of a variable, such as OPENAI_API_KEY.")
        }
    }

    /// Whether the agent speaks the Agent Client Protocol.
    var speaksACP: Bool {
        if case .preset? = agent { true } else { acp }
    }

    /// - Throws: ``CommandError`` for an agent that is not installed, and for a variable that is not set.
    func kind(environment: [String: String]) throws -> HostAgentKind {
        if let name = agentVariables.first(where: { environment[$0] == nil }) {
            throw CommandError(
                .usage,
                "agent.variable_unset",
                "the environment variable \(name) is not set",
                next: "export \(name), or leave out --agent-env \(name)"
            )
        }
        if case .preset(let preset)? = agent { return .acp(try launch(preset)) }
        guard let words = agentCommand.flatMap(ShellWords.split) else { return .builtin }
        guard acp else { return .command(words) }
        let program = words.first?.parts("/").last.map(String.init)
        return .acp(completed(ACPLaunch(name: program ?? "The agent", command: words)))
    }

    private func launch(_ preset: AgentPreset) throws -> ACPLaunch {
        guard let installed = preset.installed else {
            let programs = preset.commands.compactMap(\.first).joined(separator: " or ")
            throw CommandError(
                .hostUnavailable,
                "agent.not_installed",
                "\(preset.name) is not installed: there is no program \(programs) in PATH",
                next: preset.install
            )
        }
        let launch = ACPLaunch(
            id: preset.id,
            name: preset.name,
            command: installed.command,
            environment: AgentEnvironment(names: preset.variables),
            signInHint: preset.signIn,
            bypassModes: preset.bypassModes
        )
        return completed(launch)
    }

    private func completed(_ launch: ACPLaunch) -> ACPLaunch {
        var launch = launch
        launch.environment.names.formUnion(agentVariables)
        launch.signInMethod = agentSignIn
        launch.allowsBypass = allowBypass
        return launch
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return bytes.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }
}
