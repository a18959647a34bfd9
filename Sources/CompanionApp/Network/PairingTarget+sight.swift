package import CompanionWire
package import Discovery
import Identity
package import PairingAgent

extension PairingTarget {
    /// The host at a URL that the user gave.
    package init(url: HostURL, family: HostFamily) {
        if let route = url.route {
            self.init(route: route, family: family)
        } else {
            self.init(endpoint: url.endpoint(of: family), family: family, isSecure: url.isSecure)
        }
    }

    /// The host at a URL that the user gave, if pairtool may connect to it.
    ///
    /// - Throws: ``AppError`` for an address that is not on one of this machine's networks.
    package init(local url: HostURL, family: HostFamily) throws {
        self.init(url: url, family: family)
        if let route = routes.first {
            guard family.behavior.facts.canBeVerified else {
                throw AppError(
                    .usage,
                    "pairing.address_refused",
                    "\(family.displayName) hosts prove nothing, so that they are reached at local addresses only, not at "
                        + "\(route.place); nothing was sent"
                )
            }
            return
        }
        guard allEndpoints.first?.address.isLocal == true else {
            throw AppError(
                .usage,
                "pairing.address_refused",
                "\(name) is not an address on this machine, your network or your VPN; nothing was sent"
            )
        }
    }

    package init(_ host: DiscoveredHost, endpoints: [DiscoveredEndpoint], id: String) {
        let (plain, secure) = host.family.behavior.transports(of: host, among: endpoints)
        self.init(id: id, name: host.name, family: host.family, endpoints: plain, secureEndpoints: secure)
    }

    /// The targets that an advertisement leads to. If several machines claim the id, each machine is a target of its
    /// own, because only the user knows which one is right.
    ///
    /// An advertisement alone is no reason to contact an address outside this network. A host without a local address
    /// is not a target.
    package static func targets(of host: DiscoveredHost) -> [PairingTarget] {
        var host = host
        host.endpoints.removeAll { !$0.endpoint.address.isLocal || $0.endpoint.port == 0 }
        guard host.isClaimedBySeveralMachines else {
            return host.endpoints.isEmpty ? [] : [PairingTarget(host, endpoints: host.endpoints, id: host.id)]
        }
        return Dictionary(grouping: host.endpoints, by: { $0.hostName.lowercased() })
            .sorted { $0.key < $1.key }
            .map { machine, endpoints in
                PairingTarget(host, endpoints: endpoints, id: DeviceIdentity.shortHash("\(host.id) \(machine)"))
            }
    }

    /// The text of the target in a list of choices.
    package var text: String {
        "\(name)  \(allEndpoints.map(\.description).joined(separator: " "))  (\(id.shortID))"
    }
}
