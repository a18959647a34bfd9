package import CompanionClient
package import CompanionWire

/// How to pair with a CopilotForge host.
package enum PairingRoute: Sendable {
    /// By protocol v2, over TLS with this certificate.
    case verified(CompanionEndpoint, PinnedCertificate, plainPort: Int?)
    /// By protocol v1, in plain HTTP.
    case legacy(CompanionEndpoint)
}

/// Finds out how to pair with a host. The requests contain no secret.
package struct PairingRouter: Sendable {
    private let target: PairingTarget
    private let payload: PairingPayload?

    private static let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(3), request: .seconds(5))

    /// - Parameter payload: The content of a QR code, for its pin and port.
    package init(target: PairingTarget, payload: PairingPayload?) {
        self.target = target
        self.payload = payload
    }

    /// Chooses the route.
    ///
    /// A QR code with a pin, or a host that reports TLS, never leads to plain HTTP: an attacker who blocks TLS would
    /// get the code in clear text.
    ///
    /// - Throws: ``PairingError``.
    package func route() async throws(PairingError) -> PairingRoute {
        if let pin = payload?.spki {
            let port = payload?.port ?? PairingPayload.defaultPort
            let guesses = target.endpoints.map { CompanionEndpoint(address: $0.address, port: port) }
            return try await secure(at: (target.secureEndpoints + guesses).unique, pin: pin)
        }
        if let version = payload?.version, version >= 2 {
            throw PairingError(.rejected, "the QR code is of protocol \(version), but does not name its host's key")
        }
        if !target.secureEndpoints.isEmpty { return try await secure(at: target.secureEndpoints, pin: nil) }
        var failure: PairingError?
        for endpoint in target.endpoints {
            do {
                return try await ask(endpoint)
            } catch {
                failure = failure ?? PairingError(error)
            }
        }
        throw failure ?? PairingError(.unreachable, "no address of \(target.name) is known")
    }

    /// The first endpoint that speaks TLS with the right key.
    private func secure(at endpoints: [CompanionEndpoint], pin: String?) async throws(PairingError) -> PairingRoute {
        var failure: PairingError?
        for endpoint in endpoints {
            do {
                return .verified(
                    endpoint,
                    try await certificate(of: endpoint, pin: pin),
                    plainPort: target.endpoints.first { $0.address == endpoint.address }?.port
                )
            } catch {
                // A wrong key is a more important error than an address that does not answer.
                let error = PairingError(error)
                if failure == nil || error.code == .otherKey { failure = error }
            }
        }
        throw failure ?? PairingError(.unreachable, "no address of \(target.name) is known")
    }

    /// Asks a host in plain HTTP which protocol versions it speaks.
    private func ask(_ endpoint: CompanionEndpoint) async throws -> PairingRoute {
        let configuration = CompanionClientConfiguration(timeouts: Self.timeouts)
        let health = try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration) {
            try await $0.health()
        }
        guard let versions = health.protocolVersions, let lowest = versions.min(), let highest = versions.max() else {
            return .legacy(endpoint)
        }
        guard lowest <= ProtocolVersion.maximum else { throw PairingError.otherVersion(lowest...highest) }
        guard versions.contains(2), let port = health.tlsPort, (1...65535).contains(port) else {
            return .legacy(endpoint)
        }
        let secure = CompanionEndpoint(address: endpoint.address, port: port)
        return .verified(secure, try await certificate(of: secure, pin: nil), plainPort: endpoint.port)
    }

    private func certificate(of endpoint: CompanionEndpoint, pin: String?) async throws -> PinnedCertificate {
        try await PinnedTLS.certificate(
            of: endpoint,
            expecting: pin,
            configuration: CompanionClientConfiguration(timeouts: Self.timeouts)
        )
    }
}

extension PairingTarget {
    /// The host that a QR code names with its address; nil if it names none that pairtool may connect to.
    package init?(payload: PairingPayload) {
        // Without an id or a key, an address does not identify a host: the code could go to any machine.
        guard payload.host != nil || payload.spki != nil, let address = payload.addr.flatMap({ IPAddress($0) }),
            address.isLocal
        else { return nil }
        let endpoint = CompanionEndpoint(address: address, port: payload.port ?? PairingPayload.defaultPort)
        self.init(endpoint: endpoint, family: .copilotforge, isSecure: true)
        id = payload.host ?? id
    }
}
