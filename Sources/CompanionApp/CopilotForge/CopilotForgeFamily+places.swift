import CompanionClient
import CompanionWire
import Discovery
import Identity

// MARK: Advertisements

extension CopilotForgeFamily {
    func transports(
        of host: DiscoveredHost,
        among endpoints: [DiscoveredEndpoint]
    ) -> (plain: [CompanionEndpoint], secure: [CompanionEndpoint]) {
        // On hosts that also speak plain HTTP on another port, `_cf-companion._tcp` points to the TLS port. A host
        // whose TXT record does not mention version 2 speaks plain HTTP at the advertised port.
        let speaksTLS = host.txt["tls"] != nil || host.txt["v"] == "2"
        let plain = endpoints.filter { $0.type != .companionShort || !speaksTLS }
        var secure = endpoints.filter { $0.type == .companionShort && speaksTLS }.map(\.endpoint)
        if let port = host.txt["tls"].flatMap(Int.init), (1...65535).contains(port) {
            secure += plain.map { CompanionEndpoint(address: $0.endpoint.address, port: port) }
        }
        return (plain.map(\.endpoint).unique, secure.unique)
    }
}

// MARK: Hosts that moved

extension CopilotForgeFamily {
    /// For a verified host these are all addresses where it may speak TLS, whatever the TXT records say: a forged
    /// record must not hide the host's own.
    func places(of host: PairedHost, in claims: [DiscoveredHost]) -> [CompanionEndpoint] {
        claims.flatMap { claim in
            guard host.trust == .verified else { return transports(of: claim, among: claim.endpoints).plain }
            let short = claim.endpoints.filter { $0.type == .companionShort }.map(\.endpoint)
            let plain = claim.endpoints.filter { $0.type != .companionShort }.map(\.endpoint)
            let ports = claim.txt["tls"].flatMap(Int.init).map { [$0] } ?? []
            let beside = plain.flatMap { place in
                (ports + [place.port + 1]).filter { (1...65535).contains($0) }
                    .map { CompanionEndpoint(address: place.address, port: $0) }
            }
            return short + beside
        }.unique
    }

    /// A verified host has to show its TLS key. A legacy one only has to accept a connection at its stored address; at
    /// a new one it must at least answer like a companion host.
    func prover(of host: PairedHost) throws -> @Sendable (CompanionEndpoint) async throws -> Void {
        let configuration = CompanionClientConfiguration(timeouts: .lookup)
        if let pin = try host.security().certificate?.spki {
            return { _ = try await PinnedTLS.certificate(of: $0, expecting: pin, configuration: configuration) }
        }
        return { endpoint in
            guard endpoint != host.endpoint else {
                return try await TCPProbe.connect(to: endpoint, timeouts: .lookup)
            }
            try await CompanionAPIClient.withClient(endpoint: endpoint, configuration: configuration) {
                _ = try await $0.requireCompanion()
            }
        }
    }
}
