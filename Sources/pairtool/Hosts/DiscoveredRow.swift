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
    /// What is odd about it, the gravest first.
    var marks: [AdvertMark]
    /// The ids of other hosts, in sight or paired, whose names look the same.
    var sameNameAs: [String]?
    var probe: ProbeResult? {
        didSet { if probe?.state == .impostor { isNot(.otherKey) } }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, family, types, addresses, unresolved, paired, trust, conflicting, marks, sameNameAs, probe
    }

    /// The pin of the paired host's TLS key, and where TLS is spoken: what --probe compares.
    private(set) var pin: String?
    private(set) var secureEndpoints: [CompanionEndpoint] = []

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
        secureEndpoints = PairingTarget(host, endpoints: host.endpoints, id: host.id).secureEndpoints
        if let pin, let claimed = host.txt["spki"], claimed != pin { isNot(.otherKey) }
    }

    /// The record of an advertised host. A verified host is known by its id, which says no more than that it claims to be the
    /// host; a legacy one by its address too, for it may have been named by that.
    private static func record(of host: DiscoveredHost, in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { $0.id == host.id }
            ?? hosts.hosts.first { paired in
                paired.trust == .legacy && host.endpoints.contains { $0.endpoint == paired.endpoint }
            }
    }

    /// It is not the paired host that it claims to be.
    private mutating func isNot(_ mark: AdvertMark) {
        paired = false
        trust = nil
        pin = nil
        marks = (Set(marks).subtracting([.otherAddress]).union([mark])).sorted()
    }

    /// Marks those whose names look like another's. Of a paired host and others, the others are marked.
    static func markLookalikes(_ rows: inout [DiscoveredRow], paired hosts: PairedHosts) {
        let names = rows.map { LookalikeName($0.name) }
        var groups: [LookalikeName: [Int]] = [:]
        for (index, name) in names.enumerated() { groups[name, default: []].append(index) }
        let records = Dictionary(grouping: hosts.hosts, by: { LookalikeName($0.name) })
        for (name, members) in groups {
            let known = records[name, default: []].map(\.id)
            for index in members where !rows[index].paired {
                // One machine may be in sight under several families; it is the same name for a reason then.
                let others = members.filter { $0 != index && rows[$0].family == rows[index].family }.map { rows[$0].id }
                let ids = Set(known + others).sorted()
                guard !ids.isEmpty else { continue }
                rows[index].sameNameAs = ids
                rows[index].marks = (Set(rows[index].marks).union([.sameName])).sorted()
            }
        }
    }

    /// Each address and port once, in the order of preference.
    var endpoints: [CompanionEndpoint] {
        var seen: Set<CompanionEndpoint> = []
        return addresses.map { CompanionEndpoint(address: $0.address, port: $0.port) }.filter {
            seen.insert($0).inserted
        }
    }

    /// Those that a companion may be asked at without a further reason.
    var localEndpoints: [CompanionEndpoint] {
        endpoints.filter { $0.address.isLocal && $0.port > 0 }
    }

    /// The gravest mark, and how many more there are.
    var markText: String {
        guard let first = marks.first else { return "" }
        return marks.count == 1 ? first.rawValue : "\(first.rawValue) +\(marks.count - 1)"
    }

    /// The addresses on one line.
    var addressText: String {
        guard !unresolved || !addresses.isEmpty else { return "does not resolve" }
        return endpoints.map(\.description).joined(separator: " ")
    }
}

extension PairedHost {
    /// Whether an advert leads to the address at which this host was last reached.
    fileprivate func isSeen(in host: DiscoveredHost) -> Bool {
        host.endpoints.isEmpty || host.endpoints.contains { $0.endpoint.address.unmapped == endpoint.address.unmapped }
    }
}
