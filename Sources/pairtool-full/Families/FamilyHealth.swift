import CompanionClient
import CompanionWire
import PairingAgent

/// How a host of another family than CopilotForge's does, as far as can be asked without disturbing anybody: a `ping`
/// would open a window on a Lumi Mac.
struct FamilyHealth: Sendable, Hashable {
    /// What answers; nil where nothing says so.
    var service: String?
    var version: String?
    /// Where it answers.
    var place: String
    /// What is not well with it, for people. The host's word, as a rule.
    var trouble: String?
    /// What kind of its family it is, where it says so.
    var generation: String?
    /// Whether the assistant behind it is there; nil where that is not said.
    var hasAssistant: Bool?
    /// What cannot be had from its generation, for people.
    var limits: String?
}

extension FamilyHealth {
    /// Asks a host at its address. What is asked holds no secret.
    ///
    /// - Parameter fallback: The second base URL of a Jarvis daemon.
    /// - Throws: ``CompanionClientError``.
    static func ask(
        _ family: HostFamily,
        at endpoint: CompanionEndpoint,
        fallback: String? = nil,
        timeouts: CompanionClientConfiguration.Timeouts
    ) async throws -> FamilyHealth {
        let configuration = CompanionClientConfiguration(timeouts: timeouts)
        switch family {
        case .copilotforge: preconditionFailure("CopilotForge hosts are asked in their own way")
        case .lumi:
            try await TCPProbe.connect(to: endpoint, timeouts: timeouts)
            return FamilyHealth(place: "\(endpoint)")
        case .aicli:
            // What is asked needs no token, and gets none: an advert may be anyone's.
            return try await AICLIClient.withClient(
                endpoint: endpoint,
                token: nil,
                deviceID: "",
                configuration: configuration
            ) { client in
                let health = try await client.aicliHealth()
                return FamilyHealth(
                    service: "aicli",
                    version: health.version,
                    place: "\(endpoint)",
                    trouble: ["healthy", "ok", "running"].contains(health.status.lowercased()) ? nil : health.status,
                    generation: health.generation.rawValue,
                    hasAssistant: health.assistantAvailable,
                    limits: health.generation.limits
                )
            }
        case .jarvis:
            let second = fallback.flatMap { JarvisBase(fallback: $0) }
            return try await JarvisClient.withClient(
                endpoint: endpoint,
                fallback: second,
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

    /// Asks a paired host.
    static func ask(
        _ host: PairedHost,
        timeouts: CompanionClientConfiguration.Timeouts = .init()
    ) async throws -> FamilyHealth {
        try await ask(host.family, at: host.endpoint, fallback: host.fallbackURL, timeouts: timeouts)
    }
}
