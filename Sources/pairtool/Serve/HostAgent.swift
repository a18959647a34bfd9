import CompanionApp
import CompanionHost
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import Providers
import Terminal

/// The agents that the options of a host choose.
struct HostAgent {
    let options: AgentOptions
    let confirmation: ConfirmationOptions
    let output: Output

    private var context: TerminalContext { output.context }

    /// - Returns: The default one first.
    /// - Throws: ``AppError`` for an agent that is not installed, for a variable that is not set, for a key that is
    ///   missing, and for a command of a registry that nobody confirms; `ProviderError` for an address that no key may go
    ///   to.
    func kinds() async throws -> [HostAgentKind] {
        if let name = options.agentVariables.first(where: { context.environment[$0] == nil }) {
            throw AppError(
                .usage,
                "agent.variable_unset",
                "the environment variable \(name) is not set",
                next: "export \(name), or leave out --agent-env \(name)"
            )
        }
        var registry: AgentRegistry?
        if let place = options.registry { registry = try await RegistryPlace(text: place, context: context).read() }
        var kinds: [HostAgentKind] = []
        for name in options.agent {
            switch name {
            case "builtin": kinds.append(.builtin)
            case "openai": kinds.append(.model(try await model()))
            default: kinds.append(.acp(try await launch(name, registry)))
            }
        }
        let commands = options.agentCommand.compactMap(ShellWords.split)
        for words in commands { kinds.append(options.acp ? .acp(launch(words, of: commands)) : .command(words)) }
        return kinds.isEmpty ? [.builtin] : kinds
    }

    /// The box for the agents; nil where none is asked for.
    ///
    /// - Throws: ``AppError`` where no box can be made, or a path is not there.
    func sandbox(projects: [String], usesWorktrees: Bool) async throws -> AgentSandbox? {
        guard options.sandbox else { return nil }
        let paths = context.paths
        let sandbox = try AgentSandbox(
            hasNetwork: options.sandboxNetwork != .off,
            home: context.environment["HOME"] ?? "/",
            hidden: [paths.data, paths.state, paths.runtime, paths.config],
            writable: try options.sandboxPaths.map(existing),
            projects: projects,
            usesWorktrees: usesWorktrees
        )
        if let complaint = await SandboxProbe.complaint() {
            throw AppError(.hostUnavailable, "agent.no_sandbox", complaint, next: "pairtool doctor")
        }
        return sandbox
    }

    private func existing(_ path: String) throws -> String {
        let whole = path.begins(with: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        guard FileStatus(whole) != nil else {
            throw AppError(.nothingFound, "agent.sandbox_path", "--sandbox-write: there is no \(path)")
        }
        return whole
    }

    /// An agent that is a command. One alone is called `agent`; several have the names of their programs.
    private func launch(_ words: [String], of all: [[String]]) -> ACPLaunch {
        let name = { (words: [String]) in words.first?.parts("/").last.map(String.init) ?? "agent" }
        let same = all.prefix { $0 != words }.count { name($0).isSame(as: name(words)) }
        let id = all.count == 1 && options.agent.isEmpty ? "agent" : name(words) + (same == 0 ? "" : "-\(same + 1)")
        return completed(ACPLaunch(id: id, name: name(words), command: words, isCommand: true))
    }

    private func launch(_ name: String, _ registry: AgentRegistry?) async throws -> ACPLaunch {
        if let preset = AgentPreset.find(name) { return try launch(preset) }
        guard let entry = registry?.entry(name) else {
            throw AppError(
                .nothingFound,
                "agent.unknown",
                "the registry has no agent “\(name)” that runs on this machine",
                next: "pairtool host agents --registry \(options.registry ?? "FILE")"
            )
        }
        let program = entry.command[0]
        guard AgentProgram.find(program) != nil else {
            throw AppError(
                .hostUnavailable,
                "agent.not_installed",
                "\(entry.name) is not installed: there is no program \(program)",
                next: entry.archive.map { "download \($0), and put \(program) into a folder of PATH" }
                    ?? "install \(program), which fetches it"
            )
        }
        if confirmation.yes { output.say("\(entry.name) is run as: \(entry.commandLine)") }
        try await confirmation.confirm(
            "\(entry.name) \(entry.version) of the registry is run as\n  \(entry.commandLine)\nIt may do whatever you may. Run it?",
            code: "agent.not_confirmed",
            output: output,
            outcome: "nothing was run"
        )
        let environment = AgentEnvironment(fixed: entry.environment)
        return completed(ACPLaunch(id: entry.id, name: entry.name, command: entry.command, environment: environment))
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
                "\(preset.name) is not installed: there is no program \(programs) where pairtool looks",
                next:
                    "\(preset.install). If it is elsewhere (pairtool host agents says where it looks), add its folder to "
                    + "PATH. \(AgentProgram.serviceAdvice)"
            )
        }
        var launch = ACPLaunch(
            id: preset.id,
            name: preset.name,
            command: installed.command,
            environment: AgentEnvironment(names: preset.variables),
            signInHint: preset.signIn,
            bypassModes: preset.bypassModes
        )
        if let home = context.environment["HOME"] { launch.ownFiles = preset.ownFiles.map { "\(home)/\($0)" } }
        return completed(launch)
    }

    private func completed(_ launch: ACPLaunch) -> ACPLaunch {
        var launch = launch
        launch.environment.names.formUnion(options.agentVariables)
        launch.signInMethod = options.agentSignIn
        launch.allowsBypass = options.allowBypass
        launch.listsSessions = !options.noAgentSessions
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
