import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import LocalState
import PairingAgent

/// Jarvis daemons, which offer only approval requests.
struct JarvisFamily: Family {
    let name = HostFamily.jarvis
    let usualPort = JarvisBase.defaultPort
    var pairCommand: String { HostFamily.jarvis.pairCommand(at: "http://127.0.0.1:\(usualPort)") }
    let firstCommand = "pairtool approvals"
    let codes: Set<PairingCodeKind> = [.token]

    func clients(of host: PairedHost) -> [Any.Type] { [JarvisClient.self, JarvisApprovals.self] }

    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities {
        FamilyCapabilities(
            notes: host.fallbackURL == nil ? [:] : ["approvals": "also at a second base URL"],
            otherwise: "a Jarvis daemon only has approvals",
            commands: ["health": "jarvis health"]
        )
    }

    func check(fallbackURL: String) throws {
        guard fallbackURL.isEmpty || JarvisBase(fallback: fallbackURL) != nil else {
            throw ValidationError(
                "“\(TerminalText.line(fallbackURL))” is not a base URL. Give https://HOST[:PORT][/PATH], or http:// with a "
                    + "local address."
            )
        }
    }

    func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome {
        try pairing.requireNoPicture()
        try pairing.requireNoPin()
        try await pairing.consent.ask(about: pairing.target, known: pairing.known)
        let interaction = pairing.environment.interaction
        return try await JarvisPairing(
            target: pairing.target,
            device: pairing.device,
            token: pairing.token,
            fallbackURL: pairing.fallbackURL,
            say: { interaction.say($0) }
        ).run()
    }

    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        return try await JarvisClient.withClient(endpoint: endpoint, configuration: configuration) {
            HostHealth(try await $0.daemonHealth(), at: $0.base)
        }
    }

    /// The daemon's state can be read without a token.
    func health(
        of host: PairedHost,
        environment: AppEnvironment,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        try await JarvisClient.withClient(
            endpoint: host.endpoint,
            fallback: host.fallbackURL.flatMap { JarvisBase(fallback: $0) },
            token: try JarvisSessions.token(of: host.id, environment),
            configuration: CompanionClientConfiguration(timeouts: timeouts)
        ) { HostHealth(try await $0.daemonHealth(), at: $0.base) }
    }

    func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        try await JarvisSessions.withClient(host, environment: environment, configuration: configuration) { client in
            let approvals = JarvisApprovals(client: client) { id, answer in
                try await JarvisSession(host: host, client: client, environment: environment).decide(id, answer)
            }
            return try await body(HostClient(approvals: approvals))
        }
    }

    func forget(_ host: PairedHost, environment: AppEnvironment) throws {
        try HostSecretStore(directory: environment.paths.data).forget(hostID: host.id)
    }
}

extension HostHealth {
    fileprivate init(_ health: JarvisHealth, at base: JarvisBase) {
        self.init(
            service: "jarvis",
            version: health.version,
            place: "\(base)",
            trouble: health.isHealthy ? nil : health.status
        )
    }
}
