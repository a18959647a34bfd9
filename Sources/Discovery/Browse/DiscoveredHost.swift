package import CompanionWire

/// One resolved address of a host, on one interface, of one service type.
package struct DiscoveredEndpoint: Hashable, Sendable {
    /// The address (a link-local IPv6 one with its zone) and the TCP port.
    package var endpoint: CompanionEndpoint
    /// The name of the network interface on which the host was seen, such as `eth0`; empty where a DNS
    /// server told of it.
    package var interface: String
    /// The service type whose instance was resolved.
    package var type: ServiceType
    /// The target of the SRV record, such as `studio.local`.
    package var hostName: String

    package init(endpoint: CompanionEndpoint, interface: String, type: ServiceType, hostName: String) {
        self.endpoint = endpoint
        self.interface = interface
        self.type = type
        self.hostName = hostName
    }
}

extension DiscoveredEndpoint: Comparable {
    /// Loopback addresses last; before them IPv4 ahead of IPv6; then by address, port, interface and type.
    package static func < (left: DiscoveredEndpoint, right: DiscoveredEndpoint) -> Bool {
        let (a, b) = (left.endpoint, right.endpoint)
        let loopback = (a.address.scope == .loopback, b.address.scope == .loopback)
        if loopback.0 != loopback.1 { return loopback.1 }
        if a.address != b.address { return a.address < b.address }
        if a.port != b.port { return a.port < b.port }
        if left.interface != right.interface { return left.interface < right.interface }
        if left.type != right.type { return left.type < right.type }
        return left.hostName < right.hostName
    }
}

/// A host on the network: however many interfaces, protocols and service types it shows up on, it is one of these.
///
/// Everything in it is a claim that anyone on the link can make, and its texts are the peer's own: they may hold
/// control characters and have to be sanitised before they reach a terminal.
package struct DiscoveredHost: Hashable, Sendable, Identifiable {
    /// ``advertisedID``; for a host without one, 16 hex digits that depend only on its family, instance name and host
    /// name.
    package var id: String
    /// The TXT record's `id`, if it is 16 lower-case hex digits.
    package var advertisedID: String?
    /// The TXT record's `name`, else the instance name. Invalid UTF-8 is repaired with U+FFFD.
    package var name: String
    /// The DNS-SD instance name. Invalid UTF-8 is repaired with U+FFFD.
    package var instanceName: String
    /// The family of the service type. A type that is not known counts as CopilotForge's protocol.
    package var family: HostFamily
    /// The service types under which the host was found.
    package var types: Set<ServiceType>
    /// In the order of preference: IPv4 before IPv6, loopback last. Empty for an unresolved host.
    package var endpoints: [DiscoveredEndpoint]
    /// The first value of each key (RFC 6763, section 6.4), keys in lower case; a key without `=` has the value "".
    package var txt: [String: String]
    /// The host announces itself, but its SRV record, TXT record or address could not be had.
    package var unresolved: Bool
    /// The flaws of its adverts.
    package var flaws: Set<AdvertFlaw>

    package init(
        id: String,
        advertisedID: String? = nil,
        name: String,
        instanceName: String,
        family: HostFamily,
        types: Set<ServiceType>,
        endpoints: [DiscoveredEndpoint],
        txt: [String: String] = [:],
        unresolved: Bool = false,
        flaws: Set<AdvertFlaw> = []
    ) {
        self.id = id
        self.advertisedID = advertisedID
        self.name = name
        self.instanceName = instanceName
        self.family = family
        self.types = types
        self.endpoints = endpoints
        self.txt = txt
        self.unresolved = unresolved
        self.flaws = flaws
    }

    /// Distinguishes hosts that are in sight at the same time. The ``id`` alone is not enough: a host may advertise the
    /// id that was made up for a host without one.
    package var key: Key { Key(family: family, id: id, isAdvertised: advertisedID != nil) }

    /// The identity of a host among those in sight.
    package struct Key: Hashable, Sendable {
        /// The family, since ids are unique within one only.
        package var family: HostFamily
        /// The id that the host advertises: a claim, not a proof.
        package var id: String
        /// Whether the host advertises the id, so that it was not made up.
        package var isAdvertised: Bool
    }

    /// Whether several machines claim to be this host: the same advertised id behind different host names.
    ///
    /// A code or token must not be sent to such a host before the user has chosen an address.
    package var isClaimedBySeveralMachines: Bool {
        Set(endpoints.map { $0.hostName.lowercased() }).count > 1
    }
}
