import CompanionApp
import CompanionHost
import CompanionWire
import LocalState
import PairingAgent
import Providers
import Terminal

/// The agent that the options of a host choose.
struct HostAgent {
    let options: AgentOptions
    let context: TerminalContext

    /// - Throws: ``AppError`` for an agent that is not installed, for a variable that is not set, and for a key that
    ///   is missing; `ProviderError` for an address that no key may go to.
    func kind() async throws -> HostAgentKind {
        if let name = options.agentVariables.first(where: { context.environment[$0] == nil }) {
            throw AppError(
                .usage,
                "agent.variable_unset",
                "the environment variable \(name) is not set",
                next: "export \(name), or leave out --agent-env \(name)"
            )
        }
        if options.isModel { return .model(try await model()) }
        if case .preset(let preset)? = options.agent { return .acp(try launch(preset)) }
        guard let words = options.agentCommand.flatMap(ShellWords.split) else { return .builtin }
        guard options.acp else { return .command(words) }
        let program = words.first?.parts("/").last.map(String.init)
        return .acp(completed(ACPLaunch(name: program ?? "The agent", command: words)))
    }

    private func model() async throws -> ModelLaunch {
        let settings = ProviderSettings(
            environment: context.environment,
            store: ProviderKeyStore(directory: context.paths.data)
        )
        let place = try options.url.map { try ProviderURL($0, provider: .openai) } ?? settings.url(for: .openai)
        if let file = options.apiKeyFile {
            let key = try await context.providerKey(in: file, for: place)
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
            models: options.models.unique,
            context: options.context ?? ModelLaunch.usualContext,
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
        launch.environment.names.formUnion(options.agentVariables)
        launch.signInMethod = options.agentSignIn
        launch.allowsBypass = options.allowBypass
        return launch
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
