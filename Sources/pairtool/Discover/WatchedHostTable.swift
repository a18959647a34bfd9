import CompanionWire
import Discovery
import Identity

/// The state of `pairtool discover --watch`: the known hosts, the last probe of each, and the next probes. A state
/// machine that takes events and returns actions.
struct WatchedHostTable: Sendable {
    enum Action: Sendable {
        case show(Change, DiscoveredRow)
        /// Probe a host; the caller answers with ``probed(_:_:)``.
        case probe(DiscoveredRow)
    }

    enum Change: String, Sendable {
        case added, changed, removed
        /// A probe reported something new.
        case probed
    }

    private typealias Key = DiscoveredHost.Key

    /// How many hosts are probed at a time.
    static let probeLimit = 16

    private let paired: PairedHosts
    private let probes: Bool
    private var rows: [Key: DiscoveredRow] = [:]
    /// Hosts grouped by how their names look.
    private var lookalikes: [LookalikeName: Set<Key>] = [:]
    /// Hosts to probe, in order and without duplicates.
    private var queue: [Key] = []
    private var running: Set<Key> = []

    init(paired: PairedHosts, probes: Bool) {
        self.paired = paired
        self.probes = probes
    }

    mutating func added(_ host: DiscoveredHost) -> [Action] {
        show(.added, host)
    }

    mutating func changed(_ host: DiscoveredHost) -> [Action] {
        show(.changed, host)
    }

    mutating func removed(_ host: DiscoveredHost) -> [Action] {
        let row = DiscoveredRow(host, paired: paired)
        let key = row.key
        forgetName(of: key)
        rows[key] = nil
        queue.removeAll { $0 == key }
        return [.show(.removed, row)]
    }

    /// Starts the next round of probes. Hosts that are still in the queue keep their place.
    mutating func roundIsDue() -> [Action] {
        for key in rows.keys.sorted(by: { $0.id < $1.id }) { enqueue(key) }
        return startProbes()
    }

    /// Takes the result of a probe.
    mutating func probed(_ asked: DiscoveredRow, _ result: ProbeResult) -> [Action] {
        let key = asked.key
        running.remove(key)
        var actions: [Action] = []
        if var row = rows[key] {
            if row.endpoints != asked.endpoints {
                // Its addresses have changed since, so the answer is outdated.
                enqueue(key)
            } else if row.probe?.isNews(result) ?? true {
                row.probe = result
                rows[key] = row
                actions.append(.show(.probed, row))
            }
        }
        return actions + startProbes()
    }

    private mutating func show(_ change: Change, _ host: DiscoveredHost) -> [Action] {
        var row = DiscoveredRow(host, paired: paired)
        let key = row.key
        let old = rows[key]
        row.probe = old?.probe
        forgetName(of: key)
        let name = LookalikeName(row.name)
        row.markLookalike(of: lookalikes[name, default: []].compactMap { rows[$0] }, paired: paired)
        lookalikes[name, default: []].insert(key)
        rows[key] = row
        if old?.endpoints != row.endpoints { enqueue(key) }
        return [.show(change, row)] + startProbes()
    }

    private mutating func forgetName(of key: Key) {
        guard let name = rows[key].map({ LookalikeName($0.name) }) else { return }
        lookalikes[name]?.remove(key)
        if lookalikes[name]?.isEmpty == true { lookalikes[name] = nil }
    }

    private mutating func enqueue(_ key: Key) {
        guard probes, !running.contains(key), !queue.contains(key) else { return }
        queue.append(key)
    }

    private mutating func startProbes() -> [Action] {
        var actions: [Action] = []
        while running.count < Self.probeLimit, !queue.isEmpty {
            let key = queue.removeFirst()
            guard let row = rows[key] else { continue }
            running.insert(key)
            actions.append(.probe(row))
        }
        return actions
    }
}

extension ProbeResult {
    /// Whether another result differs. The reason is not compared, because its wording may change.
    func isNews(_ other: ProbeResult) -> Bool {
        (state, service, version) != (other.state, other.service, other.version)
    }
}
