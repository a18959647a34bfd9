package import CompanionWire
package import Discovery
import Identity
package import PairingAgent

/// The hosts in sight that a code may be sent to, in the form that auto-pairing uses.
package struct AdvertTable: Sendable {
    private var seen = HostsInSight()
    /// The host that the user named by its address; it replaces all advertisements.
    private var named: PairingTarget?

    package init(named: PairingTarget? = nil) {
        self.named = named
    }

    /// The initial events for auto-pairing.
    package var start: [AutoPairing.Event] {
        guard let named else { return [] }
        return [
            .appeared(AutoPairing.Host(id: named.id, name: named.name, advertisedID: nil, isNamed: true)), .settled,
        ]
    }

    /// Translates an event of discovery for auto-pairing.
    package mutating func take(_ event: DiscoveryEvent) -> [AutoPairing.Event] {
        let old = seen.take(event)
        switch event {
        case .added(let host), .changed(let host):
            let targets = PairingTarget.targets(of: host)
            guard let first = targets.first else { return vanished(old) }
            let ports = [first.endpoints, first.secureEndpoints].map { Set($0.map(\.port)).count }
            return [
                .appeared(
                    AutoPairing.Host(
                        id: Self.id(of: host),
                        name: host.name,
                        advertisedID: host.advertisedID,
                        isAmbiguous: targets.count > 1 || ports.contains { $0 > 1 }
                    )
                )
            ]
        case .removed: return vanished(old)
        case .settled: return [.settled]
        case .interrupted: return [.interrupted]
        case .incomplete, .resumed: return []
        }
    }

    /// A host without an address on this network cannot be contacted, so it was never there.
    private func vanished(_ host: DiscoveredHost?) -> [AutoPairing.Event] {
        guard let host, !PairingTarget.targets(of: host).isEmpty else { return [] }
        return [.vanished(id: Self.id(of: host))]
    }

    /// The target to send a code to; nil if the host has left or has no address that pairtool may connect to.
    ///
    /// Any host that claims the id in a code may be contacted, at every address: only the right one has the key.
    package func target(_ destination: AutoPairing.Destination, for payload: PairingPayload) -> PairingTarget? {
        if let named { return named }
        let named = PairingTarget(payload: payload)
        guard case .host(let id) = destination else { return named }
        guard let host = seen.hosts.first(where: { Self.id(of: $0) == id }) else { return nil }
        let endpoints = host.endpoints.filter { $0.endpoint.address.isLocal && $0.endpoint.port > 0 }
        guard !endpoints.isEmpty else { return nil }
        var target = PairingTarget(host, endpoints: endpoints, id: host.id)
        if let named, payload.spki != nil {
            target.secureEndpoints = (target.secureEndpoints + named.secureEndpoints).unique
        }
        return target
    }

    /// The suffix keeps a generated id from being equal to an advertised one.
    private static func id(of host: DiscoveredHost) -> String {
        host.advertisedID == nil ? host.id + "~" : host.id
    }
}
