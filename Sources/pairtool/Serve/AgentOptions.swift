import ArgumentParser
import CompanionApp
import CompanionHost
import CompanionWire
import HostOwner
import PairingAgent
import Providers
import Terminal

/// Which agent answers, and what it may do.
struct AgentOptions: ParsableArguments {
    @Option(
        help: """
            An agent that answers: builtin, openai (a model on any OpenAI-compatible server), or one that `pairtool \
            host agents` lists. May be given several times: each chat chooses, and the first is the default.
            """,
        completion: .list(AgentPreset.words)
    )
    var agent: [String] = []

    @Option(
        help: ArgumentHelp(
            "An agent that is this command, with its arguments (repeatable).",
            valueName: "command"
        )
    )
    var agentCommand: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            A copy of the public registry of agents, a file or an https URL: --agent takes its ids too. The command of \
            such an agent is shown first, and run after a yes (--yes).
            """,
            valueName: "place"
        )
    )
    var registry: String?

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

    @Flag(help: "The commands of --agent-command speak the Agent Client Protocol.")
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

    @Flag(help: "List only chats that began with pairtool, not the agent's other sessions in the projects.")
    var noAgentSessions = false

    @Flag(
        help: """
            Run agents in a box (bubblewrap): they see and write the project and their own files, and the rest of the \
            home directory is hidden.
            """
    )
    var sandbox = false

    @Option(help: "Whether agents in the box reach the network: on or off. Default: on.")
    var sandboxNetwork: SandboxNetwork?

    @Option(
        name: .customLong("sandbox-write"),
        help: ArgumentHelp(
            "A file or directory that agents in the box may write too (repeatable), such as the state of --agent-command.",
            valueName: "path"
        )
    )
    var sandboxPaths: [String] = []

    mutating func validate() throws {
        for name in agent where registry == nil && !AgentPreset.words.contains(where: { name.isSame(as: $0) }) {
            let near = NearestWord.of(name, in: AgentPreset.words).map { " Did you mean \($0)?" } ?? ""
            throw ValidationError(
                "There is no agent “\(name)”.\(near) `pairtool host agents` lists them; --registry adds others."
            )
        }
        guard agent.unique.count == agent.count else { throw ValidationError("--agent names an agent twice.") }
        for command in agentCommand where ShellWords.split(command)?.isEmpty != false {
            throw ValidationError("--agent-command is empty or has an unclosed quote.")
        }
        if acp, agentCommand.isEmpty { throw ValidationError("--acp needs --agent-command.") }
        guard acp || agentCommand.count + (agentCommand.isEmpty ? 0 : agent.count) <= 1 else {
            throw ValidationError("Several agents with --agent-command need --acp.")
        }
        if !speaksACP, !agentVariables.isEmpty || agentSignIn != nil || allowBypass || noAgentSessions {
            throw ValidationError(
                "--agent-env, --agent-sign-in, --allow-bypass and --no-agent-sessions need an agent from "
                    + "`pairtool host agents`, or --acp."
            )
        }
        guard sandbox || sandboxNetwork == nil && sandboxPaths.isEmpty else {
            throw ValidationError("--sandbox-network and --sandbox-write need --sandbox.")
        }
        guard !sandbox || changesFiles else {
            throw ValidationError(
                "--sandbox needs an agent that is a program: one from `pairtool host agents`, or --agent-command."
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

    /// Whether an agent speaks the Agent Client Protocol.
    var speaksACP: Bool { acp || agent.contains { !["builtin", "openai"].contains($0) } }

    /// Whether an agent may change files: neither the built-in one nor a model does.
    var changesFiles: Bool { speaksACP || !agentCommand.isEmpty }

    /// Whether an agent is a model behind a server.
    var isModel: Bool { agent.contains { $0.isSame(as: "openai") } }

    /// How long the agent may be silent by default. Models and agents of their own think for minutes.
    var usualTimeout: Duration { .seconds(speaksACP || isModel ? 900 : 120) }
}

extension AgentChoice {
    init(_ options: AgentOptions, isConfirmed: Bool) {
        self.init()
        names = options.agent
        commands = options.agentCommand.compactMap(ShellWords.split)
        commandsSpeakACP = options.acp
        registry = options.registry
        self.isConfirmed = isConfirmed
        variables = options.agentVariables
        signIn = options.agentSignIn
        allowsBypass = options.allowBypass
        listsSessions = !options.noAgentSessions
        models = options.models
        url = options.url
        apiKeyFile = options.apiKeyFile
        context = options.context
        guard options.sandbox else { return }
        box = Box(hasNetwork: options.sandboxNetwork != .off, writable: options.sandboxPaths)
    }
}

/// Whether agents in a box reach the network.
enum SandboxNetwork: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

extension AgentPreset {
    /// The words that `--agent` takes without a registry.
    static var words: [String] { ["builtin", "openai"] + all.map(\.id) }
}
