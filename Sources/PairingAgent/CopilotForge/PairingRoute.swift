package import CompanionClient
package import CompanionWire

/// How to pair with a CopilotForge host.
package enum PairingRoute: Sendable {
    /// By protocol v2, over TLS with this certificate.
    case verified(HostPlace, PinnedCertificate, plainPort: Int?)
    /// By protocol v1, in plain HTTP.
    case legacy(CompanionEndpoint)
}

/// Finds out how to pair with a host. The requests contain no secret.
package struct PairingRouter: Sendable {
    private let target: PairingTarget
    private let payload: PairingPayload?
    private let tunnels: Tunnel.Settings

    private static let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(3), request: .seconds(5))

    /// - Parameters:
    ///   - payload: The content of a QR code, for its pin and port.
    ///   - tunnels: What tunnels to the host are made with.
    package init(target: PairingTarget, payload: PairingPayload?, tunnels: Tunnel.Settings) {
        self.target = target
        self.payload = payload
        self.tunnels = tunnels
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
            return try await secure(at: places(target.secureEndpoints + guesses), pin: pin)
        }
        if let version = payload?.version, version >= 2 {
            throw PairingError(.rejected, "the QR code uses protocol \(version), but does not name its host's key")
        }
        let places = places(target.secureEndpoints)
        if !places.isEmpty { return try await secure(at: places, pin: nil) }
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

    private func places(_ endpoints: [CompanionEndpoint]) -> [HostPlace] {
        endpoints.unique.map(HostPlace.address) + target.routes.map(HostPlace.route)
    }

    /// The place that is the first to speak TLS with the right key. All are tried at the same time: one that leads
    /// nowhere must not hold up the others.
    private func secure(at places: [HostPlace], pin: String?) async throws(PairingError) -> PairingRoute {
        typealias Answer = Result<PinnedCertificate, PairingError>
        let hasAddress = places.first.map { !$0.isRoute } ?? false
        let outcome: Result<PairingRoute, PairingError> = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, place) in places.enumerated() {
                group.addTask {
                    do {
                        // Others than addresses begin later: where the host is on this network, nobody else learns of it.
                        if case .route = place {
                            let wait = index - (places.firstIndex(where: \.isRoute) ?? index) + (hasAddress ? 1 : 0)
                            try await ContinuousClock().sleep(for: HostPlace.routeDelay * wait)
                        }
                        // Not within the tuple: Swift 6.3 then forgets the index in optimised builds.
                        let certificate = try await certificate(of: place, pin: pin)
                        return (index, .success(certificate))
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
                    var plainPort: Int?
                    if case .address(let endpoint) = places[index] {
                        plainPort = target.endpoints.first { $0.address == endpoint.address }?.port
                    }
                    return .success(.verified(places[index], certificate, plainPort: plainPort))
                }
            }
            return .failure(failure(of: places, failures))
        }
        return try outcome.get()
    }

    /// Why no place is the host: the first address and every other route, each in its own words.
    private func failure(of places: [HostPlace], _ failures: [Int: PairingError]) -> PairingError {
        let ordered = places.indices.compactMap { index in failures[index].map { (place: places[index], error: $0) } }
        // A wrong key is a more important error than an address that does not answer.
        if let other = ordered.first(where: { $0.error.code == .otherKey }) { return other.error }
        guard let first = ordered.first?.error else {
            return PairingError(.unreachable, "no address of \(target.name) is known")
        }
        let others = ordered.dropFirst().filter(\.place.isRoute).map(\.error.message)
        guard !others.isEmpty else { return first }
        return PairingError(first.code, ([first.message] + others).unique.joined(separator: "; "), advice: first.advice)
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
        let secure = HostPlace.address(CompanionEndpoint(address: endpoint.address, port: port))
        return .verified(secure, try await certificate(of: secure, pin: nil), plainPort: endpoint.port)
    }

    private func certificate(of place: HostPlace, pin: String?) async throws -> PinnedCertificate {
        let configuration = CompanionClientConfiguration(timeouts: Self.timeouts)
        if case .address(let endpoint) = place {
            return try await PinnedTLS.certificate(of: endpoint, expecting: pin, configuration: configuration)
        }
        return try await place.withTarget(tunnels) { target in
            try await PinnedTLS.certificate(of: target, expecting: pin, configuration: configuration)
        }
    }
}

extension PairingTarget {
    /// The host that a QR code names with its addresses; nil if it names none that pairtool may connect to.
    package init?(payload: PairingPayload) {
        let port = payload.port ?? PairingPayload.defaultPort
        let addresses = ([payload.addr].compactMap(\.self) + payload.otherAddrs).compactMap { IPAddress($0) }
        let endpoints = addresses.filter(\.isLocal).map { CompanionEndpoint(address: $0, port: port) }.unique
        // Without an id or a key, an address does not identify a host: the code could go to any machine.
        guard payload.host != nil || payload.spki != nil else { return nil }
        // Only a key proves who is at the other end of a relay.
        let routes = payload.spki == nil ? [] : payload.relayRoutes
        if let first = endpoints.first {
            self.init(endpoint: first, family: .copilotforge, isSecure: true)
        } else if let route = routes.first {
            self.init(route: route, family: .copilotforge)
        } else {
            return nil
        }
        (secureEndpoints, self.routes) = (endpoints, routes)
        id = payload.host ?? id
    }
}
