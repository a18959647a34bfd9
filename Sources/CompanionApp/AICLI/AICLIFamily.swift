import CompanionClient
import CompanionWire
import Discovery
import Identity
import LocalState
import PairingAgent

/// AICLI servers.
struct AICLIFamily: Family {
    package let facts = FamilyFacts(
        name: .aicli,
        usualPort: AICLIPayload.defaultPort,
        // If CopilotForge hosts are visible, `pairtool pair` pairs with those unless another host is named.
        pairCommand: "pairtool pair NAME, as pairtool discover shows it",
        firstCommand: "pairtool projects",
        codes: [.token],
        queuing: .untilAnswered,
        // Servers list no open questions, questions have no ids, and an answer is the next prompt: one that comes too
        // late would be taken as a prompt (aicli, "Seen with the real server").
        asksSenderOnly: true,
        confirmsKey: true,
        reportsGeneration: true,
        files: AICLIStore.files,
        outbox: { host, paths in AICLIStore(data: paths.data, hostID: host.id).outboxStore }
    )

    func capabilities(of host: PairedHost, health: HostHealth?) -> FamilyCapabilities {
        let auto =
            health?.limits.map { HostCapability.cannot("auto", text: "auto mode", why: $0) }
            ?? .can("auto", text: "auto mode", command: "chat", note: "--auto MODE")
        var reasons: [Capability: String] = [
            .models: "the server chooses", .create: "only sessions: pairtool aicli sessions new",
        ]
        reasons[.approvals] = "its agent asks only in the command that sent the prompt: send, chat or outbox send"
        reasons[.prompts] = health?.limits
        return FamilyCapabilities(
            offered: Capability.browsing.union([.outbox]),
            notes: [.chats: "one for each project", .messages: "from this machine; the server stores none"],
            reasons: reasons,
            own: [auto, .can("sessions", text: "list, end and clean up sessions", command: "aicli sessions")]
        )
    }

    /// A server has a single port, with TLS or without.
    func transports(
        of host: DiscoveredHost,
        among endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        let all = endpoints.map(\.endpoint).unique
        return host.txt["tls"] == "enabled" ? ([], all) : (all, [])
    }

    func look(at place: HostAddress, paired: PairedHosts) async throws -> SightedHost {
        let endpoint = place.endpoint(facts.usualPort)
        let timeouts = CompanionClientConfiguration.Timeouts.lookup
        let health: HostHealth
        do {
            health = try await self.health(at: endpoint, speaksTLS: false, timeouts: timeouts)
        } catch let error as CompanionClientError where error.code != .unreachable {
            health = try await self.health(at: endpoint, speaksTLS: true, timeouts: timeouts)
        }
        return SightedHost(facts.name, at: endpoint, health: health, paired: paired)
    }

    func pair(_ pairing: FamilyPairing) async throws -> PairingOutcome {
        try pairing.requireNoPicture()
        let isUnanswered =
            pairing.token == nil && !pairing.environment.interaction.canAsk && !pairing.consent.isGiven
            && pairing.consent.required == nil && pairing.pin == nil
        if isUnanswered {
            throw AppError(
                .usage,
                "pairing.no_code",
                "no token for \(pairing.target.name) was given, and there is no terminal to ask for one",
                next:
                    "give the token: pairtool pair --token-file FILE (- for standard input). If the server needs none: --allow-legacy"
            )
        }
        if pairing.target.secureEndpoints.isEmpty { try pairing.requireNoPin() }
        try await pairing.consent.ask(about: pairing.target, known: pairing.known)
        let questions = AICLIQuestions(hostName: pairing.target.name, interaction: pairing.environment.interaction)
        return try await AICLIPairing(
            target: pairing.target,
            device: pairing.device,
            token: pairing.token,
            pin: pairing.pin,
            confirmKey: questions.confirm,
            askToken: questions.token
        ).run()
    }

    func health(
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        // These requests need no token and get none: anyone may have sent the advertisement.
        return try await AICLIClient.withClient(
            endpoint: endpoint,
            security: try await .unproven(at: endpoint, speaksTLS: speaksTLS, configuration: configuration),
            token: nil,
            deviceID: "",
            configuration: configuration
        ) { HostHealth(try await $0.aicliHealth(), at: endpoint) }
    }

    func health(
        of host: PairedHost,
        environment: AppEnvironment,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> HostHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        return try await AICLISessions.withClient(of: host, environment: environment, configuration: configuration) {
            client in
            var health = HostHealth(try await client.aicliHealth(), at: host.endpoint)
            do {
                try await client.checkToken()
                health.standing = HostHealth.Standing(isConnected: true)
            } catch let error as CompanionClientError where error.code == .notPaired {
                health.standing = HostHealth.Standing(isConnected: false)
            } catch let error as CompanionClientError {
                // The server answered, so the error is not about its token.
                health.trouble = health.trouble ?? error.description
            }
            return health
        }
    }

    func open<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration,
        _ body: (HostClient) async throws -> R
    ) async throws -> R {
        try await AICLISessions.with(host, environment: environment, configuration: configuration) {
            try await body($0.hostClient)
        }
    }

    func forget(_ host: PairedHost, environment: AppEnvironment) throws {
        try HostSecretStore(directory: environment.paths.data).forget(hostID: host.id)
        try AICLISessions.store(of: host.id, environment: environment).removeAll()
    }
}

extension HostHealth {
    fileprivate init(_ health: AICLIHealth, at endpoint: CompanionEndpoint) {
        self.init(
            service: "aicli",
            version: health.version,
            place: "\(endpoint)",
            trouble: ["healthy", "ok", "running"].contains(health.status.lowercased()) ? nil : health.status,
            generation: health.generation.rawValue,
            assistant: .program(answers: health.assistantAvailable),
            limits: health.generation.limits
        )
    }
}
