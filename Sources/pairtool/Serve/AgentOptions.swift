import ArgumentParser
import CompanionApp
import CompanionHost
import CompanionWire
import LocalState
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
        guard agentVariables.allSatisfy(Self.isName) else {
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

    /// - Throws: ``AppError`` for an agent that is not installed, for a variable that is not set, and for a key that
    ///   is missing; `ProviderError` for an address that no key may go to.
    func kind(_ context: TerminalContext) async throws -> HostAgentKind {
        if let name = agentVariables.first(where: { context.environment[$0] == nil }) {
            throw AppError(
                .usage,
                "agent.variable_unset",
                "the environment variable \(name) is not set",
                next: "export \(name), or leave out --agent-env \(name)"
            )
        }
        if isModel { return .model(try await model(context)) }
        if case .preset(let preset)? = agent { return .acp(try launch(preset)) }
        guard let words = agentCommand.flatMap(ShellWords.split) else { return .builtin }
        guard acp else { return .command(words) }
        let program = words.first?.parts("/").last.map(String.init)
        return .acp(completed(ACPLaunch(name: program ?? "The agent", command: words)))
    }

    private func model(_ context: TerminalContext) async throws -> ModelLaunch {
        let settings = ProviderSettings(
            environment: context.environment,
            store: ProviderKeyStore(directory: context.paths.data)
        )
        let place = try url.map { try ProviderURL($0, provider: .openai) } ?? settings.url(for: .openai)
        if let apiKeyFile {
            let key = try await context.providerKey(in: apiKeyFile, for: place)
            return launch(of: place, key: key, keyPlace: "--api-key-file")
        }
        // In clear text anybody can read a key, and a server of this machine does not get the one for OpenAI.
        let key = place.isSecure && !place.isLoopback ? try settings.key(for: .openai) : nil
        guard key != nil || !place.description.isSame(as: Provider.openai.standardURL) else {
            throw AppError(
                .hostUnavailable,
                "provider.key_missing",
                "there is no key for OpenAI",
                next: "pairtool lumi keys set openai, or name another server with --url"
            )
        }
        let name =
            switch key?.source {
            case .environment(let variable)?: variable
            case .kept?, .synced?: "pairtool lumi keys (openai)"
            case nil: nil as String?
            }
        return launch(of: place, key: key?.key, keyPlace: name)
    }

    private func launch(of place: ProviderURL, key: ProviderKey?, keyPlace: String?) -> ModelLaunch {
        ModelLaunch(
            endpoint: ProviderEndpoint(provider: .openai, url: place, key: key, name: place.authority),
            models: models.unique,
            context: context ?? ModelLaunch.usualContext,
            keyPlace: keyPlace
        )
    }

    private func launch(_ preset: AgentPreset) throws -> ACPLaunch {
        guard let installed = preset.installed else {
            let programs = preset.commands.compactMap(\.first).joined(separator: " or ")
            throw AppError(
                .hostUnavailable,
                "agent.not_installed",
                "\(preset.name) is not installed: there is no program \(programs) in PATH, in ~/.local/bin or beside pairtool",
                next: "\(preset.install). If it is elsewhere, add its folder to PATH. \(AgentProgram.serviceAdvice)"
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

extension TerminalContext {
    /// Reads the key for a model's server.
    ///
    /// - Parameter file: A path, or `-` for standard input.
    /// - Throws: ``AppError`` if it cannot be a key, or the server is reached in clear text over a network.
    fileprivate func providerKey(in file: String, for place: ProviderURL) async throws -> ProviderKey {
        guard place.isSecure || place.isLoopback else {
            throw AppError(
                .usage,
                "provider.key_exposed",
                "a key is not sent to \(place.authority) without encryption",
                next: "use an https:// address, or a server on this machine"
            )
        }
        let bytes = try await content(of: file, limit: 8 << 10)
        guard let bytes, let key = ProviderKey(String(decoding: bytes, as: UTF8.self).trimmingWhitespace()) else {
            throw AppError(.usage, "provider.key_format", "\(file == "-" ? "standard input" : file) has no API key")
        }
        return key
    }
}
