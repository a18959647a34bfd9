import CompanionWire
import Discovery
import PairingAgent

/// A discovered host as `pairtool discover` shows it.
struct DiscoveredRow: Encodable, Sendable {
    struct Address: Encodable, Sendable, Hashable {
        var address: IPAddress
        var port: Int
        var interface: String
        var type: String
        var hostName: String
    }

    var id: String
    var name: String
    var family: HostFamily
    var types: [String]
    var addresses: [Address]
    /// Its name or address could not be resolved.
    var unresolved: Bool
    var paired: Bool
    /// The trust of the pairing; absent for a host that is not paired.
    var trust: HostTrust?
    /// Several machines claim the id of this host.
    var conflicting: Bool
    var probe: ProbeResult?

    init(_ host: DiscoveredHost, paired hosts: PairedHosts) {
        id = host.id
        name = host.name
        family = host.family
        types = host.types.sorted().map(\.rawValue)
        addresses = host.endpoints.map {
            Address(
                address: $0.endpoint.address,
                port: $0.endpoint.port,
                interface: $0.interface,
                type: $0.type.rawValue,
                hostName: $0.hostName
            )
        }
        unresolved = host.unresolved
        let record = hosts.hosts.first { paired in
            paired.id == host.id || host.endpoints.contains { $0.endpoint == paired.endpoint }
        }
        paired = record != nil
        trust = record?.trust
        conflicting = host.isClaimedBySeveralMachines
    }

    /// Each address and port once, in the order of preference.
    var endpoints: [CompanionEndpoint] {
        var seen: Set<CompanionEndpoint> = []
        return addresses.map { CompanionEndpoint(address: $0.address, port: $0.port) }.filter {
            seen.insert($0).inserted
        }
    }

    /// The addresses on one line.
    var addressText: String {
        guard !unresolved || !addresses.isEmpty else { return "does not resolve" }
        return endpoints.map(\.description).joined(separator: " ")
    }
}
