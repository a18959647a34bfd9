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
            throw PairingError(.rejected, "the QR code uses protocol \(version), but does not name its host's key")
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

    /// The endpoint that is the first to speak TLS with the right key. All are tried at the same time: one that leads
    /// nowhere must not hold up the others.
    private func secure(at endpoints: [CompanionEndpoint], pin: String?) async throws(PairingError) -> PairingRoute {
        typealias Answer = Result<PinnedCertificate, PairingError>
        let outcome: Result<PairingRoute, PairingError> = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, endpoint) in endpoints.enumerated() {
                group.addTask {
                    do {
                        return (index, .success(try await certificate(of: endpoint, pin: pin)))
                    } catch {
                        return (index, .failure(PairingError(error)))
                    }
                }
            }
            defer { group.cancelAll() }
            var failures: [Int: PairingError] = [:]
            for await (index, answer) in group {
                switch answer {
                case .failure(let error): failures[index] = error
                case .success(let certificate):
                    let endpoint = endpoints[index]
                    let plainPort = target.endpoints.first { $0.address == endpoint.address }?.port
                    return .success(.verified(endpoint, certificate, plainPort: plainPort))
                }
            }
            let ordered = endpoints.indices.compactMap { failures[$0] }
            // A wrong key is a more important error than an address that does not answer.
            let failure = ordered.first { $0.code == .otherKey } ?? ordered.first
            return .failure(failure ?? PairingError(.unreachable, "no address of \(target.name) is known"))
        }
        return try outcome.get()
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
    /// The host that a QR code names with its addresses; nil if it names none that pairtool may connect to.
    package init?(payload: PairingPayload) {
        let port = payload.port ?? PairingPayload.defaultPort
        let addresses = ([payload.addr].compactMap(\.self) + payload.otherAddrs).compactMap { IPAddress($0) }
        let endpoints = addresses.filter(\.isLocal).map { CompanionEndpoint(address: $0, port: port) }.unique
        // Without an id or a key, an address does not identify a host: the code could go to any machine.
        guard payload.host != nil || payload.spki != nil, let first = endpoints.first else { return nil }
        self.init(endpoint: first, family: .copilotforge, isSecure: true)
        secureEndpoints = endpoints
        id = payload.host ?? id
    }
}
