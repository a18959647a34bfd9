import CompanionClient
import CompanionWire
import Discovery
import Identity
import PairingAgent

extension CopilotForgeFamily {
    /// Asks `GET /health`, in plain HTTP first and then by HTTPS, because the port may be either. Neither request has a
    /// secret.
    func look(at place: HostAddress, paired: PairedHosts) async throws -> SightedHost {
        let plain = place.endpoint(facts.usualPort)
        do {
            let health = try await health(at: plain, security: .plain)
            let secure = health.tlsPort.flatMap { port in
                (1...65535).contains(port) ? CompanionEndpoint(address: place.address, port: port) : nil
            }
            return row(
                health,
                at: [plain],
                secure: secure,
                certificate: try await certificate(of: secure),
                paired: paired
            )
        } catch let error as CompanionClientError {
            let secure = place.endpoint(HostURL.securePort)
            guard let certificate = try await certificate(of: secure),
                let health = try? await health(at: secure, security: .pinned(certificate))
            else {
                var failure = AppError(describing: error)
                // A silent peer does not tell what it is.
                if failure.kind == .timedOut { failure.next = "see who is on the network: pairtool discover" }
                throw failure
            }
            return row(health, at: [], secure: secure, certificate: certificate, paired: paired)
        }
    }

    private var configuration: CompanionClientConfiguration {
        CompanionClientConfiguration(timeouts: .lookup)
    }

    private func health(
        at endpoint: CompanionEndpoint,
        security: HostSecurity
    ) async throws -> CompanionHealthResponse {
        try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: security,
            configuration: configuration
        ) { try await $0.requireCompanion() }
    }

    /// The certificate whose key the endpoint proves to have; nil if it does not speak TLS.
    private func certificate(of endpoint: CompanionEndpoint?) async throws -> PinnedCertificate? {
        guard let endpoint else { return nil }
        do {
            return try await PinnedTLS.certificate(of: endpoint, expecting: nil, configuration: configuration)
        } catch is CompanionClientError {
            return nil
        }
    }

    private func row(
        _ health: CompanionHealthResponse,
        at plain: [CompanionEndpoint],
        secure: CompanionEndpoint?,
        certificate: PinnedCertificate?,
        paired: PairedHosts
    ) -> SightedHost {
        // The key identifies a verified host. Without a key, only a legacy record with that address can match.
        let record = paired.hosts.first { host in
            host.trust == .verified ? host.spki == certificate?.spki : plain.contains(host.endpoint)
        }
        // The host only claims its id, which may be that of a paired host with another key.
        let claimed = TXTRecord(strings: health.hostId.map { [Array("id=\($0)".utf8)] } ?? []).advertisedID
        let usurped = record == nil ? paired.hosts.first { $0.trust == .verified && $0.id == claimed } : nil
        let endpoints = plain + (secure.map { [$0] } ?? [])
        let id = record?.id ?? claimed ?? PairedHost.id(for: endpoints[0])
        var row = SightedHost(
            DiscoveredHost(
                id: id,
                name: record?.name ?? "\(endpoints[0])",
                instanceName: "",
                family: facts.name,
                types: [],
                endpoints: endpoints.map {
                    DiscoveredEndpoint(
                        endpoint: $0,
                        interface: "",
                        type: $0 == secure ? .companionShort : .companion,
                        hostName: ""
                    )
                }
            ),
            paired: paired
        )
        row.paired = record != nil
        row.trust = record?.trust
        row.conflicting = usurped != nil
        row.probe = ProbeResult(
            state: .up,
            service: health.service,
            version: health.version,
            address: "\(endpoints[0])",
            reason: usurped.map {
                "it claims to be \($0.name), but shows another key: expected \($0.spki ?? ""), "
                    + "shown \(certificate?.spki ?? "none")"
            }
        )
        return row
    }
}
