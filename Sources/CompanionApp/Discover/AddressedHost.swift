import CompanionClient
import CompanionWire
import Discovery
package import Identity
import PairingAgent

/// Asks which hosts are at an address: `discover` without mDNS.
package struct AddressedHost: Sendable {
    let place: HostAddress
    let paired: PairedHosts

    package init(place: HostAddress, paired: PairedHosts) {
        self.place = place
        self.paired = paired
    }

    /// The hosts that answer at the address. One machine may run hosts of several families.
    ///
    /// - Throws: ``AppError`` if none answers.
    package func rows() async throws -> [SightedHost] {
        try place.requireLocal()
        // The error of the usual family is the one to report, so it goes first.
        let families = [HostFamily.usual] + HostFamily.allCases.filter { !$0.isUsual }
        guard let port = place.port else { return try await rows(of: families) }
        // Older hosts of a family that does not speak HTTP crash when they get an HTTP request.
        if let mute = families.first(where: { !$0.behavior.facts.speaksHTTP && $0.behavior.facts.usualPort == port }) {
            return [try await row(of: mute)]
        }
        // A port may belong to any of several families: ask one after the other.
        do { return [try await row(of: families[0])] } catch let error as AppError {
            for family in families.dropFirst()
            where family.behavior.facts.speaksHTTP && error.code != "host.unreachable" {
                if let row = try? await row(of: family) { return [row] }
            }
            throw error
        }
    }

    /// Asks for hosts of all families at once, each at its usual port.
    private func rows(of families: [HostFamily]) async throws -> [SightedHost] {
        let results = await withTaskGroup(of: (Int, Result<SightedHost, any Error>).self) { group in
            for (number, family) in families.enumerated() {
                group.addTask {
                    do { return (number, .success(try await row(of: family))) } catch {
                        return (number, .failure(error))
                    }
                }
            }
            var results: [Int: Result<SightedHost, any Error>] = [:]
            for await (number, result) in group { results[number] = result }
            return results
        }
        let found = families.indices.compactMap { number in results[number].flatMap { try? $0.get() } }
        if found.isEmpty, let first = results[0] { return [try first.get()] }
        return found
    }

    private func row(of family: HostFamily) async throws -> SightedHost {
        try await family.behavior.look(at: place, paired: paired)
    }
}

extension SightedHost {
    /// A host that answered at an address; nothing else is known of it.
    init(_ family: HostFamily, at endpoint: CompanionEndpoint, health: HostHealth, paired: PairedHosts) {
        let record = paired.hosts.first { $0.family == family && $0.endpoint == endpoint }
        self.init(
            DiscoveredHost(
                id: record?.id ?? PairedHost.id(for: endpoint),
                name: record?.name ?? "\(endpoint)",
                instanceName: "",
                family: family,
                types: [],
                endpoints: [
                    DiscoveredEndpoint(endpoint: endpoint, interface: "", type: family.usualType, hostName: "")
                ]
            ),
            paired: paired
        )
        self.paired = record != nil
        trust = record?.trust
        probe = ProbeResult(
            state: .up,
            service: health.service,
            version: health.version,
            address: "\(endpoint)",
            reason: health.trouble
        )
    }
}
