import CompanionClient
import CompanionWire
import Discovery
import PairingAgent

/// Asks at an address what host is there: `discover` past mDNS.
struct AddressedHost: Sendable {
    let place: HostPlace
    let paired: PairedHosts

    /// The rows of the hosts that answer there: one machine may have hosts of several families.
    ///
    /// - Throws: ``CommandError`` where none answers.
    func rows() async throws -> [DiscoveredRow] {
        guard place.address.isLocal else {
            throw CommandError(
                .usage,
                "host.refused_address",
                "\(place.address) is not an address on this machine, your network or your VPN; nothing was sent"
            )
        }
        // A Lumi host takes no HTTP: older ones do not survive it.
        guard place.port != HostFamily.lumi.usualPort else { return [try await row(of: .lumi)] }
        guard place.port == nil else {
            // Several families may be what is behind one port: one is asked after the other.
            do { return [try await companionRow()] } catch let error as CommandError {
                for family in [HostFamily.aicli, .jarvis] where error.code != "host.unreachable" {
                    if let row = try? await row(of: family) { return [row] }
                }
                throw error
            }
        }
        // nil stands for CopilotForge's row, which best explains why nothing answers.
        let families: [HostFamily?] = [nil, .aicli, .jarvis, .lumi]
        let results = try await withThrowingTaskGroup(of: (Int, Result<DiscoveredRow, any Error>).self) { group in
            for (number, family) in families.enumerated() {
                group.addTask { (number, await result(of: family)) }
            }
            var results: [Int: Result<DiscoveredRow, any Error>] = [:]
            for try await (number, result) in group { results[number] = result }
            return results
        }
        let found = families.indices.compactMap { number in results[number].flatMap { try? $0.get() } }
        if found.isEmpty, let first = results[0] { return [try first.get()] }
        return found
    }

    private func result(of family: HostFamily?) async -> Result<DiscoveredRow, any Error> {
        do {
            guard let family else { return .success(try await companionRow()) }
            return .success(try await row(of: family))
        } catch {
            return .failure(error)
        }
    }

    /// The row of a host of another family than CopilotForge's. What it is asked holds no secret, and a Lumi host is
    /// asked nothing: each connection in which something is said is a question on its screen.
    private func row(of family: HostFamily) async throws -> DiscoveredRow {
        let endpoint = place.endpoint(family.usualPort)
        let record = paired.hosts.first { $0.family == family && $0.endpoint == endpoint }
        var health: FamilyHealth
        do {
            health = try await FamilyHealth.ask(family, at: endpoint, timeouts: HostFinder.timeouts)
        } catch let error as CompanionClientError where family == .aicli && error.code != .unreachable {
            health = try await FamilyHealth.ask(family, at: endpoint, speaksTLS: true, timeouts: HostFinder.timeouts)
        }
        if family == .lumi { health.service = nil }
        var row = DiscoveredRow(
            DiscoveredHost(
                id: record?.id ?? PairedHost.id(for: endpoint),
                name: record?.name ?? "\(endpoint)",
                instanceName: "",
                family: family,
                types: [],
                endpoints: [
                    DiscoveredEndpoint(
                        endpoint: endpoint,
                        interface: "",
                        type: family.usualType,
                        hostName: ""
                    )
                ]
            ),
            paired: paired
        )
        row.paired = record != nil
        row.trust = record?.trust
        row.probe = ProbeResult(
            state: .up,
            service: health.service,
            version: health.version,
            address: "\(endpoint)",
            reason: health.trouble
        )
        return row
    }

    /// Asks `GET /health` in plain HTTP, else by HTTPS, where the port may be either's; neither carries a secret.
    private func companionRow() async throws -> DiscoveredRow {
        let plain = place.endpoint(CompanionEndpoint.defaultPort)
        do {
            let health = try await health(at: plain, .plain)
            let secure = health.tlsPort.flatMap { port in
                (1...65535).contains(port) ? CompanionEndpoint(address: place.address, port: port) : nil
            }
            return row(health, at: [plain], secure: secure, certificate: try await certificate(of: secure))
        } catch let error as CompanionClientError {
            let secure = place.endpoint(HostURL.securePort)
            guard let certificate = try await certificate(of: secure),
                let health = try? await health(at: secure, .pinned(certificate))
            else {
                var failure = CommandError(describing: error)
                // A silent peer tells nothing about itself.
                if failure.status == .timedOut { failure.next = "see who is on the network: pairtool discover" }
                throw failure
            }
            return row(health, at: [], secure: secure, certificate: certificate)
        }
    }

    private var configuration: CompanionClientConfiguration {
        CompanionClientConfiguration(timeouts: HostFinder.timeouts)
    }

    private func health(
        at endpoint: CompanionEndpoint,
        _ security: HostSecurity
    ) async throws -> CompanionHealthResponse {
        try await CompanionAPIClient.withClient(
            endpoint: endpoint,
            security: security,
            configuration: configuration
        ) { try await $0.requireCompanion() }
    }

    /// The certificate that is proven there; nil if no TLS is spoken.
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
        certificate: PinnedCertificate?
    ) -> DiscoveredRow {
        // A key tells which paired host it is; without one, only a legacy record with that address can be meant.
        let record = paired.hosts.first { host in
            host.trust == .verified ? host.spki == certificate?.spki : plain.contains(host.endpoint)
        }
        // The id is the host's own word, and may be that of a paired host with another key.
        let claimed = TXTRecord(strings: health.hostId.map { [Array("id=\($0)".utf8)] } ?? []).advertisedID
        let usurped = record == nil ? paired.hosts.first { $0.trust == .verified && $0.id == claimed } : nil
        let endpoints = plain + (secure.map { [$0] } ?? [])
        let id = record?.id ?? claimed ?? PairedHost.id(for: endpoints[0])
        var row = DiscoveredRow(
            DiscoveredHost(
                id: id,
                name: record?.name ?? "\(endpoints[0])",
                instanceName: "",
                family: .copilotforge,
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
