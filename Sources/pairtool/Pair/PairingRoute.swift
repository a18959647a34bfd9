import CompanionClient
import CompanionWire
import PairingAgent

/// How a host is paired with.
enum PairingRoute: Sendable {
    /// By protocol v2, over TLS that ends at this certificate.
    case verified(CompanionEndpoint, PinnedCertificate, plainPort: Int?)
    /// By protocol v1, in plain HTTP.
    case legacy(CompanionEndpoint)
}

/// Finds out how a host is paired with. What is asked holds no secret.
struct PairingRouter: Sendable {
    let target: PairingTarget
    /// The pin and port of a QR code.
    let payload: PairingPayload?

    private static let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(3), request: .seconds(5))

    /// - Throws: ``PairingError``. Neither a QR code with a pin nor a host that says that it has TLS is a way to plain
    ///   HTTP: an attacker who blocks TLS would get the code in clear text.
    func route() async throws(PairingError) -> PairingRoute {
        if let pin = payload?.spki {
            let port = payload?.port ?? HostURL.securePort
            let guesses = target.endpoints.map { CompanionEndpoint(address: $0.address, port: port) }
            return try await secure(at: (target.secureEndpoints + guesses).unique, pin: pin)
        }
        if let version = payload?.version, version >= 2 {
            throw PairingError(.rejected, "the QR code is of protocol \(version), but does not name its host's key")
        }
        if !target.secureEndpoints.isEmpty { return try await secure(at: target.secureEndpoints, pin: nil) }
        var failure: PairingError?
        for endpoint in target.endpoints {
            do throws(PairingTransportError) {
                return try await ask(endpoint)
            } catch {
                failure = failure ?? PairingError(error)
            }
        }
        throw failure ?? PairingError(.unreachable, "\(target.name) has no address")
    }

    /// The first endpoint where TLS is spoken with the right key.
    private func secure(at endpoints: [CompanionEndpoint], pin: String?) async throws(PairingError) -> PairingRoute {
        var failure: PairingError?
        for endpoint in endpoints {
            do throws(PairingTransportError) {
                return .verified(
                    endpoint,
                    try await certificate(of: endpoint, pin: pin),
                    plainPort: target.endpoints.first { $0.address == endpoint.address }?.port
                )
            } catch {
                // A key that is not the right one says more than an address that does not answer.
                if failure == nil || error.reason == .otherKey { failure = PairingError(error) }
            }
        }
        throw failure ?? PairingError(.unreachable, "\(target.name) has no address")
    }

    /// Asks a host in plain HTTP what it speaks.
    private func ask(_ endpoint: CompanionEndpoint) async throws(PairingTransportError) -> PairingRoute {
        let configuration = CompanionClientConfiguration(timeouts: Self.timeouts)
        let health = try await ClientPairingTransport.translated {
            try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration) {
                try await $0.health()
            }
        }
        guard let versions = health.protocolVersions, let lowest = versions.min(), let highest = versions.max() else {
            return .legacy(endpoint)
        }
        guard lowest <= ProtocolVersion.maximum else {
            throw PairingTransportError(.otherVersions(lowest...highest), "another version")
        }
        guard versions.contains(2), let port = health.tlsPort, (1...65535).contains(port) else {
            return .legacy(endpoint)
        }
        let secure = CompanionEndpoint(address: endpoint.address, port: port)
        return .verified(secure, try await certificate(of: secure, pin: nil), plainPort: endpoint.port)
    }

    private func certificate(
        of endpoint: CompanionEndpoint,
        pin: String?
    ) async throws(PairingTransportError) -> PinnedCertificate {
        try await ClientPairingTransport.translated {
            try await PinnedTLS.certificate(
                of: endpoint,
                expecting: pin,
                configuration: CompanionClientConfiguration(timeouts: Self.timeouts)
            )
        }
    }
}
