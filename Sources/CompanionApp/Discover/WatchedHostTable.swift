import CompanionWire
package import Discovery
package import Identity

/// The hosts that `pairtool discover --watch` shows, the last probe of each, and the next probes. A state machine that
/// takes events and returns actions.
package struct WatchedHostTable: Sendable {
    package enum Action: Sendable {
        case show(Change, SightedHost)
        /// Probe a host; the caller answers with ``probed(_:_:)``.
        case probe(SightedHost)
    }

    package enum Change: String, Sendable {
        case added, changed, removed
        /// A probe reported something new.
        case probed
    }

    private typealias Key = DiscoveredHost.Key

    /// How many hosts are probed at a time.
    static let probeLimit = 16

    private let paired: PairedHosts
    private let probes: Bool
    private var seen = HostsInSight()
    private var results: [Key: ProbeResult] = [:]
    /// Hosts grouped by how their names look.
    private var lookalikes: [LookalikeName: Set<Key>] = [:]
    /// Hosts to probe, in order and without duplicates.
    private var queue: [Key] = []
    private var running: Set<Key> = []

    package init(paired: PairedHosts, probes: Bool) {
        self.paired = paired
        self.probes = probes
    }

    package mutating func take(_ event: DiscoveryEvent) -> [Action] {
        let old = seen.take(event)
        if let old { forgetName(of: old) }
        switch event {
        case .added(let host): return show(.added, host: host, replacing: old)
        case .changed(let host): return show(.changed, host: host, replacing: old)
        case .removed(let host):
            results[host.key] = nil
            queue.removeAll { $0 == host.key }
            return [.show(.removed, SightedHost(host, paired: paired))]
        case .settled, .incomplete, .interrupted, .resumed: return []
        }
    }

    /// Starts the next round of probes. Hosts that are still in the queue keep their place.
    package mutating func roundIsDue() -> [Action] {
        for key in seen.hosts.map(\.key).sorted(by: { $0.id < $1.id }) { enqueue(key) }
        return startProbes()
    }

    /// Takes the result of a probe.
    package mutating func probed(_ asked: SightedHost, with result: ProbeResult) -> [Action] {
        let key = asked.key
        running.remove(key)
        var actions: [Action] = []
        if let row = row(key) {
            if row.endpoints != asked.endpoints {
                // Its addresses have changed since, so the answer is outdated.
                enqueue(key)
            } else if row.probe?.isNews(result) ?? true {
                results[key] = result
                actions += self.row(key).map { [.show(.probed, $0)] } ?? []
            }
        }
        return actions + startProbes()
    }

    private mutating func show(_ change: Change, host: DiscoveredHost, replacing old: DiscoveredHost?) -> [Action] {
        lookalikes[LookalikeName(host.name), default: []].insert(host.key)
        if old?.endpoints.map(\.endpoint).unique != host.endpoints.map(\.endpoint).unique { enqueue(host.key) }
        return (row(host.key).map { [.show(change, $0)] } ?? []) + startProbes()
    }

    private func row(_ key: Key) -> SightedHost? {
        guard let host = seen[key] else { return nil }
        var row = SightedHost(host, paired: paired)
        row.probe = results[key]
        row.markLookalike(of: lookalikes[LookalikeName(host.name), default: []].subtracting([key]), paired: paired)
        return row
    }

    private mutating func forgetName(of host: DiscoveredHost) {
        let name = LookalikeName(host.name)
        lookalikes[name]?.remove(host.key)
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
            guard let row = row(key) else { continue }
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
