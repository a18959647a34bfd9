package import CompanionWire
package import Discovery
package import Identity

/// A discovered host as `pairtool discover` shows it.
package struct SightedHost: Encodable, Sendable {
    package struct Address: Encodable, Sendable, Hashable {
        var address: IPAddress
        var port: Int
        var interface: String
        var type: String
        var hostName: String
    }

    package var id: String
    package var name: String
    package var family: HostFamily
    /// The name of what runs there (``HostFamily/programName(speaksV2:)``).
    package private(set) var programName: String
    var types: [String]
    var addresses: [Address]
    /// The name or address could not be resolved.
    var unresolved: Bool
    package var paired: Bool
    /// The trust of the pairing; nil for a host that is not paired.
    package var trust: HostTrust?
    /// Several machines claim this host's id.
    package var conflicting: Bool
    /// The reasons to be suspicious, the most serious first.
    package var marks: [AdvertMark]
    /// The ids of other advertised or paired hosts whose names look the same.
    var sameNameAs: [String]?
    package var probe: ProbeResult? {
        didSet { if probe?.state == .impostor { denyIdentity() } }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, family, types, addresses, unresolved, paired, trust, conflicting, marks, sameNameAs, probe
    }

    /// Distinguishes it from other hosts.
    let key: DiscoveredHost.Key
    /// The pin of the paired host's TLS key, and the addresses of its TLS ports, for --probe.
    private(set) var pin: String?
    package private(set) var secureEndpoints: [CompanionEndpoint] = []

    package init(_ host: DiscoveredHost, paired hosts: PairedHosts) {
        id = host.id
        key = host.key
        name = host.name
        family = host.family
        programName = host.family.programName(speaksV2: host.speaksV2)
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
        conflicting = host.isClaimedBySeveralMachines
        var marks = Set(host.flaws.map(AdvertMark.init))
        if conflicting { marks.insert(.sameID) }
        if host.endpoints.contains(where: { !$0.endpoint.address.isLocal }) { marks.insert(.publicAddress) }
        if ([host.name] + host.txt.values + host.endpoints.map(\.hostName)).contains(where: TerminalText.isUnsafe) {
            marks.insert(.unsafeText)
        }
        let record = Self.record(of: host, in: hosts)
        paired = record != nil
        trust = record?.trust
        pin = record?.spki
        if let record, !record.isSeen(in: host) { marks.insert(.otherAddress) }
        self.marks = marks.sorted()
        secureEndpoints = host.family.behavior.transports(of: host, among: host.endpoints).secure
        if let pin, let claimed = host.txt["spki"], claimed != pin { denyIdentity() }
    }

    /// The record of an advertised host. A verified host is found by its id; the id proves nothing, so the
    /// advertisement only claims to be that host. A legacy host is also found by its address, because the user may have
    /// named it by address.
    private static func record(of host: DiscoveredHost, in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { $0.id == host.id }
            ?? hosts.hosts.first { paired in
                paired.trust == .legacy && host.endpoints.contains { $0.endpoint == paired.endpoint }
            }
    }

    /// Marks a host that showed another key than the paired host it claims to be.
    ///
    /// If several machines claim to be the host, the real one may be among them, so the row stays marked as paired: an
    /// impostor must not hide the paired host.
    private mutating func denyIdentity() {
        if !conflicting {
            paired = false
            trust = nil
        }
        marks = (Set(marks).subtracting([.otherAddress]).union([.otherKey])).sorted()
    }

    /// Marks hosts whose names look like another host's. If one of them is paired, only the others are marked.
    package static func markLookalikes(_ rows: inout [SightedHost], paired hosts: PairedHosts) {
        let all = rows
        let groups = Dictionary(grouping: all.indices, by: { LookalikeName(all[$0].name) })
        for members in groups.values where members.count > 1 || !hosts.hosts.isEmpty {
            for index in members {
                rows[index].markLookalike(of: members.filter { $0 != index }.map { all[$0].key }, paired: hosts)
            }
        }
    }

    /// - Parameter others: The other advertised hosts whose names look the same.
    mutating func markLookalike(of others: some Collection<DiscoveredHost.Key>, paired hosts: PairedHosts) {
        guard !paired else { return }
        let name = LookalikeName(self.name)
        let known = hosts.hosts.filter { LookalikeName($0.name) == name && $0.id != id }.map(\.id)
        // One machine may run hosts of several families, which then have the same name for a good reason.
        let ids = Set(known + others.filter { $0.family == family }.map(\.id)).sorted()
        guard !ids.isEmpty else { return }
        sameNameAs = ids
        marks = Set(marks).union([.sameName]).sorted()
    }

    /// The addresses and ports without duplicates, in order of preference.
    var endpoints: [CompanionEndpoint] {
        addresses.map { CompanionEndpoint(address: $0.address, port: $0.port) }.unique
    }

    /// Addresses on this network, which pairtool may contact on the evidence of an advertisement alone.
    package var localEndpoints: [CompanionEndpoint] {
        endpoints.filter { $0.address.isLocal && $0.port > 0 }
    }

    /// The most serious mark, and how many more there are.
    package var markText: String {
        guard let first = marks.first else { return "" }
        return marks.count == 1 ? first.rawValue : "\(first.rawValue) +\(marks.count - 1)"
    }

    /// The addresses in one line.
    package var addressText: String {
        guard !unresolved || !addresses.isEmpty else { return "does not resolve" }
        return endpoints.map(\.description).joined(separator: " ")
    }
}

extension PairedHost {
    /// Whether an advertisement has the address at which this host was last reached.
    fileprivate func isSeen(in host: DiscoveredHost) -> Bool {
        host.endpoints.isEmpty || host.endpoints.contains { $0.endpoint.address.unmapped == endpoint.address.unmapped }
    }
}
