package import CompanionApp
package import CompanionHost
import CompanionWire
import FoundationEssentials
import LocalState
import PairingAgent
import Providers

/// The agents that an owner chooses for a host, as the command line or a page has them.
package struct AgentChoice: Sendable {
    /// Names: `builtin`, `openai`, those of ``AgentPreset``, and ids of the registry. The first is the default.
    package var names: [String] = []
    /// Commands with their arguments, each of which is an agent.
    package var commands: [[String]] = []
    /// Whether the commands speak the Agent Client Protocol.
    package var commandsSpeakACP = false
    /// A copy of the registry of agents: a path or an https URL.
    package var registry: String?
    /// Whether what a registry says is run without a question.
    package var isConfirmed = false
    /// Environment variables that agents get besides the usual ones.
    package var variables: [String] = []
    /// The id of the sign-in method that agents are to use; nil for the usual one.
    package var signIn: String?
    /// Whether modes in which agents ask nothing are allowed.
    package var allowsBypass = false
    /// Whether sessions of agents that did not begin with pairtool are listed.
    package var listsSessions = true

    /// Models of the agent `openai`. The first is the default.
    package var models: [String] = []
    /// The address of its server; nil for the one in the settings, or OpenAI's.
    package var url: String?
    /// The file with the key for that server, or `-` for standard input.
    package var apiKeyFile: String?
    /// Tokens of a conversation with a model.
    package var context: Int?

    /// The box for agents; nil for none.
    package var box: Box?

    /// The rights of agents in a box besides the project and their own files.
    package struct Box: Sendable {
        package var hasNetwork: Bool
        /// Files and directories that they may write.
        package var writable: [String]

        package init(hasNetwork: Bool, writable: [String]) {
            (self.hasNetwork, self.writable) = (hasNetwork, writable)
        }
    }

    package init() {}

    /// - Returns: The default one first.
    /// - Throws: `AppError` for an agent that is not installed, for a variable that is not set, for a key that is
    ///   missing, and for a command of a registry that nobody confirms; `ProviderError` for an address that no key may go
    ///   to.
    package func kinds(in environment: AppEnvironment) async throws -> [HostAgentKind] {
        if let name = variables.first(where: { environment.variables[$0] == nil }) {
            throw AppError(
                .usage,
                "agent.variable_unset",
                "the environment variable \(name) is not set",
                next: "export \(name), or leave out --agent-env \(name)"
            )
        }
        var entries: AgentRegistry?
        if let registry { entries = try await RegistryPlace(text: registry).read(in: environment) }
        var kinds: [HostAgentKind] = []
        for name in names {
            switch name {
            case "builtin": kinds.append(.builtin)
            case "openai": kinds.append(.model(try await model(in: environment)))
            default: kinds.append(.acp(try await launch(name, entries, in: environment)))
            }
        }
        for words in commands { kinds.append(commandsSpeakACP ? .acp(launch(words)) : .command(words)) }
        return kinds.isEmpty ? [.builtin] : kinds
    }

    // MARK: The box

    /// The box for the agents; nil where none is asked for.
    ///
    /// - Parameter projects: The directories that the host serves.
    /// - Throws: `AppError` where no box can be made, or a path is not there.
    package func sandbox(
        projects: [String],
        usesWorktrees: Bool,
        in environment: AppEnvironment
    ) async throws -> AgentSandbox? {
        guard let box else { return nil }
        let paths = environment.paths
        let sandbox = try AgentSandbox(
            hasNetwork: box.hasNetwork,
            home: environment.variables["HOME"] ?? "/",
            hidden: [paths.data, paths.state, paths.runtime, paths.config],
            writable: try box.writable.map(existing),
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

    // MARK: Programs

    /// An agent that is a command. One alone is called `agent`; several have the names of their programs.
    private func launch(_ words: [String]) -> ACPLaunch {
        let name = { (words: [String]) in words.first?.parts("/").last.map(String.init) ?? "agent" }
        let same = commands.prefix { $0 != words }.count { name($0).isSame(as: name(words)) }
        let id = commands.count == 1 && names.isEmpty ? "agent" : name(words) + (same == 0 ? "" : "-\(same + 1)")
        return completed(ACPLaunch(id: id, name: name(words), command: words, isCommand: true))
    }

    private func launch(
        _ name: String,
        _ entries: AgentRegistry?,
        in environment: AppEnvironment
    ) async throws -> ACPLaunch {
        if let preset = AgentPreset.find(name) { return try launch(preset, home: environment.variables["HOME"]) }
        guard let entry = entries?.entry(name) else {
            throw AppError(
                .nothingFound,
                "agent.unknown",
                "the registry has no agent “\(name)” that runs on this machine",
                next: "pairtool host agents --registry \(registry ?? "FILE")"
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
        if isConfirmed {
            environment.interaction.say("\(entry.name) is run as: \(entry.commandLine)")
        } else {
            try await environment.interaction.confirm(
                "\(entry.name) \(entry.version) of the registry is run as\n  \(entry.commandLine)\nIt may do whatever you may. Run it?",
                code: "agent.not_confirmed",
                outcome: "nothing was run"
            )
        }
        let fixed = AgentEnvironment(fixed: entry.environment)
        return completed(ACPLaunch(id: entry.id, name: entry.name, command: entry.command, environment: fixed))
    }

    private func launch(_ preset: AgentPreset, home: String?) throws -> ACPLaunch {
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
        if let home { launch.ownFiles = preset.ownFiles.map { "\(home)/\($0)" } }
        return completed(launch)
    }

    private func completed(_ launch: ACPLaunch) -> ACPLaunch {
        var launch = launch
        launch.environment.names.formUnion(variables)
        launch.signInMethod = signIn
        launch.allowsBypass = allowsBypass
        launch.listsSessions = listsSessions
        return launch
    }

    // MARK: Models

    private func model(in environment: AppEnvironment) async throws -> ModelLaunch {
        let settings = ProviderSettings(
            environment: environment.variables,
            store: ProviderKeyStore(directory: environment.paths.data)
        )
        let place = try url.map { try ProviderURL($0, provider: .openai) } ?? settings.url(for: .openai)
        if let apiKeyFile {
            let key = try await environment.providerKey(in: apiKeyFile, for: place)
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
}

extension AppEnvironment {
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
        let bytes = try await content(file, 8 << 10)
        guard let bytes, let key = ProviderKey(String(decoding: bytes, as: UTF8.self).trimmingWhitespace()) else {
            throw AppError(.usage, "provider.key_format", "\(file == "-" ? "standard input" : file) has no API key")
        }
        return key
    }
}
