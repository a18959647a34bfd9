import CompanionWire
package import Discovery
package import Identity
import PairingAgent

/// Probes the hosts with a name, of any family.
package struct NamedHost: Sendable {
    let name: String
    let paired: PairedHosts

    package init(name: String, paired: PairedHosts) {
        self.name = name
        self.paired = paired
    }

    /// The hosts that the name means: advertised hosts, and paired ones that are not advertised.
    ///
    /// - Throws: ``AppError`` if there is none; `DiscoveryError` if mDNS fails, unless a paired host has this name.
    package func rows(client: CompanionDiscoveryClient, limit: Duration) async throws -> [SightedHost] {
        let hosts = try await advertised(client, within: limit)
        var rows = hosts.map { SightedHost($0, paired: paired) }
        let inSight = Set(rows.map(\.id))
        rows += paired.hosts.filter { !inSight.contains($0.id) }.map(row)
        var found = UserWord(name.lowercased()).choose(among: rows, ids: { [$0.id] }, names: { [$0.name] })
        guard !found.isEmpty else {
            let others = rows.map(\.name)
            throw AppError(
                .nothingFound,
                "host.unknown",
                "no host called “\(name)” is in sight or recorded"
                    + (others.isEmpty ? "" : "; there are: \(others.joined(separator: ", "))"),
                next: "name its address: pairtool discover --host ADDRESS"
            )
        }
        await Probe.fill(&found)
        return found
    }

    private func advertised(_ client: CompanionDiscoveryClient, within limit: Duration) async throws -> [DiscoveredHost]
    {
        do {
            return try await DiscoverySnapshot.run(client: client, types: ServiceType.all, limit: limit) {
                $0.isSettled
            }
            .hosts
        } catch let error as DiscoveryError {
            // Paired hosts are probed even if mDNS is not available.
            guard paired.hosts.contains(where: { $0.name.lowercased() == name.lowercased() }) else { throw error }
            return []
        }
    }

    /// A paired host, at the address in its record.
    private func row(_ host: PairedHost) -> SightedHost {
        SightedHost(
            DiscoveredHost(
                id: host.id,
                name: host.name,
                instanceName: "",
                family: host.family,
                types: [],
                endpoints: [
                    DiscoveredEndpoint(
                        endpoint: host.endpoint,
                        interface: "",
                        type: host.trust == .verified ? .companionShort : host.family.usualType,
                        hostName: ""
                    )
                ]
            ),
            paired: paired
        )
    }
}

extension HostFamily {
    /// The service type of the family's hosts. Jarvis daemons advertise none and speak HTTP, so they get `_http._tcp`.
    var usualType: ServiceType {
        behavior.facts.serviceTypes.first ?? ServiceType("_http._tcp") ?? .companion
    }
}
