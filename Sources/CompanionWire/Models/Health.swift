package import FoundationEssentials

/// The answer of `GET /health`. Everything but `ok` depends on the host's make.
package struct CompanionHealthResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// `copilotforge-sidecar` on deployed Macs, `pairtool-host` here.
    package var service: String?
    /// The version of the service; nil if the host does not tell it.
    package var version: String?
    /// The version of Node.js that a Mac's service runs on; nil from other hosts.
    package var nodeVersion: String?
    /// The path of Node.js on the host; nil from other hosts than Macs.
    package var nodeExecPath: String?
    /// Milliseconds since 1970-01-01 UTC.
    package var processStartedAtMs: Double?
    /// The versions of the companion protocol that the host speaks; nil means 1 alone.
    package var protocolVersions: [Int]?
    /// The port where the host serves HTTPS; nil if it serves none.
    package var tlsPort: Int?
    /// The host's clock.
    package var serverTime: Date?
    /// The host's id: a label, not a proof.
    package var hostId: String?

    /// The services that speak the companion protocol.
    package static let companionServices: Set<String> = ["copilotforge-sidecar", "pairtool-host"]

    package init(
        service: String,
        version: String?,
        processStartedAtMs: Double?,
        protocolVersions: [Int]? = nil,
        tlsPort: Int? = nil,
        serverTime: Date? = nil,
        hostId: String? = nil
    ) {
        self.ok = true
        self.service = service
        self.version = version
        self.processStartedAtMs = processStartedAtMs
        self.protocolVersions = protocolVersions
        self.tlsPort = tlsPort
        self.serverTime = serverTime
        self.hostId = hostId
    }

    /// Reads an answer. The members of v2 are nil if they cannot be read.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ok = try container.decode(Bool.self, forKey: .ok)
        service = try container.decodeIfPresent(String.self, forKey: .service)
        version = try container.decodeIfPresent(String.self, forKey: .version)
        nodeVersion = try container.decodeIfPresent(String.self, forKey: .nodeVersion)
        nodeExecPath = try container.decodeIfPresent(String.self, forKey: .nodeExecPath)
        processStartedAtMs = try container.decodeIfPresent(Double.self, forKey: .processStartedAtMs)
        // A service that means something else by these names is still read as far as it can be.
        protocolVersions = try? container.decodeIfPresent([Int].self, forKey: .protocolVersions)
        tlsPort = try? container.decodeIfPresent(Int.self, forKey: .tlsPort)
        serverTime = try? container.decodeIfPresent(Date.self, forKey: .serverTime)
        hostId = try? container.decodeIfPresent(String.self, forKey: .hostId)
    }

    /// Whether the host says that it speaks the companion protocol.
    package var isCompanion: Bool {
        service.map(Self.companionServices.contains) ?? false
    }
}

/// The answer of `GET /auth/status`: whether the assistant's account is signed in on the host.
package struct CompanionAuthStatusResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// Whether the assistant's account is signed in at the host.
    package var authenticated: Bool

    package init(authenticated: Bool) {
        self.ok = true
        self.authenticated = authenticated
    }
}
