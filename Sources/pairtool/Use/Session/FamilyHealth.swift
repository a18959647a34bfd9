import CompanionClient
import CompanionWire
import PairingAgent

/// How a host of another family than CopilotForge's does, as far as can be asked without disturbing anybody: a `ping`
/// would open a window on a Lumi Mac.
struct FamilyHealth: Sendable, Hashable {
    /// What answers; nil if nothing says so.
    var service: String?
    var version: String?
    /// Where it answers.
    var place: String
    /// What is not well with it, for people. The host's word, as a rule.
    var trouble: String?
    /// The generation of its family, if it says so.
    var generation: String?
    /// Whether its assistant is available; nil if the host does not say.
    var hasAssistant: Bool?
    /// What hosts of its generation cannot do, for people.
    var limits: String?
    /// Whether the host accepts this device's token; nil if it needs none, or was not asked.
    var takesToken: Bool?
}

extension FamilyHealth {
    /// Asks a host at its address. What is asked holds no secret.
    ///
    /// - Parameters:
    ///   - speaksTLS: Whose key it is makes no difference to a question without secrets.
    ///   - fallback: The second base URL of a Jarvis daemon.
    ///   - token: What a paired Jarvis daemon wants to see with every request.
    /// - Throws: ``CompanionClientError``.
    static func ask(
        _ family: HostFamily,
        at endpoint: CompanionEndpoint,
        speaksTLS: Bool = false,
        fallback: String? = nil,
        token: String? = nil,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> FamilyHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        switch family {
        case .copilotforge: preconditionFailure("CopilotForge hosts are asked in their own way")
        case .lumi:
            try await TCPProbe.connect(to: endpoint, timeouts: timeouts)
            return FamilyHealth(place: "\(endpoint)")
        case .aicli:
            // What is asked needs no token, and gets none: an advertisement may be anyone's.
            let security: HostSecurity =
                speaksTLS
                ? .pinned(try await PinnedTLS.certificate(of: endpoint, expecting: nil, configuration: configuration))
                : .plain
            return try await AICLIClient.withClient(
                endpoint: endpoint,
                security: security,
                token: nil,
                deviceID: "",
                configuration: configuration
            ) { FamilyHealth(try await $0.aicliHealth(), at: endpoint) }
        case .jarvis:
            let second = fallback.flatMap { JarvisBase(fallback: $0) }
            return try await JarvisClient.withClient(
                endpoint: endpoint,
                fallback: second,
                token: token,
                configuration: configuration
            ) { client in
                let health = try await client.daemonHealth()
                return FamilyHealth(
                    service: "jarvis",
                    version: health.version,
                    place: "\(client.base)",
                    trouble: health.isHealthy ? nil : health.status
                )
            }
        }
    }

    init(_ health: AICLIHealth, at endpoint: CompanionEndpoint) {
        self.init(
            service: "aicli",
            version: health.version,
            place: "\(endpoint)",
            trouble: ["healthy", "ok", "running"].contains(health.status.lowercased()) ? nil : health.status,
            generation: health.generation.rawValue,
            hasAssistant: health.assistantAvailable,
            limits: health.generation.limits
        )
    }

    /// Asks a paired host, with the key and the token that it was paired with.
    static func ask(
        _ host: PairedHost,
        context: CommandContext,
        timeouts: CompanionClientConfiguration.Timeouts = .init()
    ) async throws -> FamilyHealth {
        guard host.family == .aicli else {
            return try await ask(
                host.family,
                at: host.endpoint,
                fallback: host.fallbackURL,
                token: host.family == .jarvis ? try JarvisSessions.token(of: host.id, context) : nil,
                timeouts: timeouts
            )
        }
        return try await AICLISessions.health(of: host, context: context, timeouts: timeouts)
    }
}
