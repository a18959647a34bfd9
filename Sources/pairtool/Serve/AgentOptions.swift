import ArgumentParser
import CompanionApp
import CompanionHost
import CompanionWire
import PairingAgent
import Providers
import Terminal

/// Which agent answers, and what it may do.
struct AgentOptions: ParsableArguments {
    @Option(
        help: """
            The agent that answers: builtin, openai (a model on any OpenAI-compatible server), or one that `pairtool \
            host agents` lists.
            """,
        completion: .list(AgentChoice.allValueStrings)
    )
    var agent: AgentChoice?

    @Option(
        help: ArgumentHelp("Run this command, with its arguments, instead of the built-in agent.", valueName: "command")
    )
    var agentCommand: String?

    @Option(
        name: .customLong("model"),
        help: "The model for --agent openai (repeatable). Devices may choose among them; the first is the default."
    )
    var models: [String] = []

    @Option(
        help: """
            The address of the server for --agent openai: https, or http for localhost, private and link-local \
            addresses. If nothing answers there, pairtool adds /v1. Default: the address in `pairtool lumi keys`, or \
            OpenAI's if none was set.
            """
    )
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A file with the API key for the server of --url (- for standard input). Default: the key for OpenAI, over https.",
            valueName: "file"
        )
    )
    var apiKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "How many tokens a conversation with --agent openai may have. Default: 8192.",
            valueName: "tokens"
        )
    )
    var context: Int?

    @Flag(help: "The command of --agent-command speaks the Agent Client Protocol.")
    var acp = false

    @Option(
        name: .customLong("agent-env"),
        help: ArgumentHelp(
            "Pass this environment variable to the agent (repeatable). Default: those that every program needs.",
            valueName: "name"
        )
    )
    var agentVariables: [String] = []

    @Option(
        help: ArgumentHelp("When the agent asks to sign in, use its sign-in method with this id.", valueName: "method")
    )
    var agentSignIn: String?

    @Flag(help: "Allow modes in which the agent does everything without asking.")
    var allowBypass = false

    /// An agent on the command line.
    enum AgentChoice: ExpressibleByArgument {
        case builtin
        case openai
        case preset(AgentPreset)

        init?(argument: String) {
            if argument == "builtin" {
                self = .builtin
            } else if argument == "openai" {
                self = .openai
            } else if let preset = AgentPreset.find(argument) {
                self = .preset(preset)
            } else {
                return nil
            }
        }

        static var allValueStrings: [String] { ["builtin", "openai"] + AgentPreset.all.map(\.id) }
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
                "--agent-env, --agent-sign-in and --allow-bypass need an agent from `pairtool host agents`, or --acp."
            )
        }
        if isModel {
            guard !models.isEmpty else { throw ValidationError("--agent openai needs --model NAME.") }
            for model in models { try NameRule.checkModel(model) }
            guard ModelLaunch.contexts.contains(context ?? ModelLaunch.usualContext) else {
                throw ValidationError("--context must be 1024 to 4000000 tokens.")
            }
            if apiKeyFile != nil, url == nil {
                throw ValidationError("--api-key-file needs --url: the key is for that server alone.")
            }
        } else if !models.isEmpty || url != nil || context != nil || apiKeyFile != nil {
            throw ValidationError("--model, --url, --api-key-file and --context need --agent openai.")
        }
        guard agentVariables.allSatisfy(\.isVariableName) else {
            throw ValidationError("--agent-env needs the name of a variable, such as OPENAI_API_KEY.")
        }
    }

    /// Whether the agent speaks the Agent Client Protocol.
    var speaksACP: Bool {
        if case .preset? = agent { true } else { acp }
    }

    /// Whether the agent may change files: neither the built-in one nor a model does.
    var changesFiles: Bool { speaksACP || agentCommand != nil }

    /// Whether the agent is a model behind a server.
    var isModel: Bool {
        if case .openai? = agent { true } else { false }
    }

    /// How long the agent may be silent by default. Models and agents of their own think for minutes.
    var usualTimeout: Duration { .seconds(speaksACP || isModel ? 900 : 120) }
}

extension String {
    /// Whether the text can be the name of an environment variable.
    fileprivate var isVariableName: Bool {
        guard let first = utf8.first, !first.isASCIIDigit else { return false }
        return utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIIDigit || $0.isASCIILetter }
    }
}
