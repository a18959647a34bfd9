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
        didSet { if probe?.state == .impostor { denyIdentity() } }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, family, types, addresses, unresolved, paired, trust, conflicting, marks, sameNameAs, probe
    }

    /// What tells it apart from others.
    let key: DiscoveredHost.Key
    /// The pin of the paired host's TLS key, and where TLS is spoken: what --probe compares.
    private(set) var pin: String?
    private(set) var secureEndpoints: [CompanionEndpoint] = []

    init(_ host: DiscoveredHost, paired hosts: PairedHosts) {
        id = host.id
        key = host.key
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
        secureEndpoints = host.family.ways.transports(of: host, host.endpoints).secure
        if let pin, let claimed = host.txt["spki"], claimed != pin { denyIdentity() }
    }

    /// The record of an advertised host. A verified host is known by its id, which says no more than that it claims to
    /// be the host; a legacy one by its address too, for it may have been named by that.
    private static func record(of host: DiscoveredHost, in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { $0.id == host.id }
            ?? hosts.hosts.first { paired in
                paired.trust == .legacy && host.endpoints.contains { $0.endpoint == paired.endpoint }
            }
    }

    /// Has shown another key than the paired host that it claims to be.
    ///
    /// Where several machines claim to be the host, one of them may be: a liar shall not make the paired host look
    /// strange.
    private mutating func denyIdentity() {
        if !conflicting {
            paired = false
            trust = nil
        }
        marks = (Set(marks).subtracting([.otherAddress]).union([.otherKey])).sorted()
    }

    /// Marks those whose names look like another's. Of a paired host and others, the others are marked.
    static func markLookalikes(_ rows: inout [DiscoveredRow], paired hosts: PairedHosts) {
        let all = rows
        let groups = Dictionary(grouping: all.indices, by: { LookalikeName(all[$0].name) })
        for members in groups.values where members.count > 1 || !hosts.hosts.isEmpty {
            for index in members {
                rows[index].markLookalike(of: members.filter { $0 != index }.map { all[$0] }, paired: hosts)
            }
        }
    }

    /// - Parameter others: Hosts in sight whose names look the same.
    mutating func markLookalike(of others: [DiscoveredRow], paired hosts: PairedHosts) {
        guard !paired else { return }
        let name = LookalikeName(self.name)
        let known = hosts.hosts.filter { LookalikeName($0.name) == name && $0.id != id }.map(\.id)
        // One machine may be in sight as a host of several families: that has one name for a reason.
        let ids = Set(known + others.filter { $0.family == family }.map(\.id)).sorted()
        guard !ids.isEmpty else { return }
        sameNameAs = ids
        marks = Set(marks).union([.sameName]).sorted()
    }

    /// Each address and port once, in the order of preference.
    var endpoints: [CompanionEndpoint] {
        addresses.map { CompanionEndpoint(address: $0.address, port: $0.port) }.unique
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
    /// Whether an advertisement leads to the address at which this host was last reached.
    fileprivate func isSeen(in host: DiscoveredHost) -> Bool {
        host.endpoints.isEmpty || host.endpoints.contains { $0.endpoint.address.unmapped == endpoint.address.unmapped }
    }
}

extension DiscoveredRow {
    /// What `discover` shows of them.
    ///
    /// - Parameter probe: Whether they were asked how they are.
    static func columns(_ rows: [DiscoveredRow], probe: Bool) -> [TableColumn<DiscoveredRow>] {
        var columns: [TableColumn<DiscoveredRow>] = [
            TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
            TableColumn("FAMILY", rank: 5) { $0.family.displayName },
            TableColumn("PAIRED", rank: 2) { $0.conflicting ? "conflict" : $0.paired ? "yes" : "no" },
            TableColumn("TRUST", rank: 4) { $0.trust?.rawValue ?? "–" },
            TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
        ]
        if rows.contains(where: { !$0.marks.isEmpty }) { columns.append(TableColumn("MARKS") { $0.markText }) }
        if probe { columns.append(TableColumn("HEALTH", shrinks: true) { $0.probe?.text ?? "–" }) }
        columns.append(TableColumn("ADDRESSES", .words, rank: 3) { $0.addressText })
        return columns
    }
}
