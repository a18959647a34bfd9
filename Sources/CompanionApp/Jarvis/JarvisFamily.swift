package import CompanionClient
package import CompanionWire
package import Identity
import LocalState
package import PairingAgent

/// Jarvis daemons, which offer only approval requests.
package struct JarvisFamily: Family {
    package let facts = FamilyFacts(
        name: .jarvis,
        usualPort: JarvisBase.defaultPort,
        pairCommand: HostFamily.jarvis.pairCommand(at: "http://127.0.0.1:\(JarvisBase.defaultPort)"),
        firstCommand: "pairtool approvals",
        codes: [.token],
        takesSecondURL: true
    )

    package func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities {
        FamilyCapabilities(
            offered: [.approvals],
            notes: host.fallbackURL == nil ? [:] : [.approvals: "also at a second base URL"],
            otherwise: "a Jarvis daemon only has approvals",
            commands: [.health: "jarvis health"]
        )
    }

    package func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome {
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

    package func health(
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
    package func health(
        of host: PairedHost,
        environment: AppEnvironment,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        try await JarvisClient.withClient(
            endpoint: host.endpoint,
            fallback: host.fallbackURL.flatMap { JarvisBase(fallback: $0) },
            token: try JarvisSessions.token(of: host.id, in: environment),
            configuration: CompanionClientConfiguration(timeouts: timeouts)
        ) { HostHealth(try await $0.daemonHealth(), at: $0.base) }
    }

    package func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        try await JarvisSessions.withClient(host, environment: environment, configuration: configuration) { client in
            let approvals = JarvisApprovals(client: client) { id, answer in
                try await JarvisSession(host: host, client: client, environment: environment).decide(id, with: answer)
            }
            return try await body(HostClient(approvals: approvals))
        }
    }

    package func forget(_ host: PairedHost, environment: AppEnvironment) throws {
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
