import CompanionWire

/// The hosts in sight, kept up to date with the events of browsing. All code that shows or uses hosts reads them here.
package struct HostsInSight: Sendable {
    /// In no particular order; ``sort()`` gives them one until the next event.
    package private(set) var hosts: [DiscoveredHost]
    private var places: [DiscoveredHost.Key: Int]

    package init(_ hosts: [DiscoveredHost] = []) {
        self.hosts = []
        places = [:]
        hosts.forEach { put($0) }
    }

    /// The host with a key; nil if it is not in sight.
    package subscript(key: DiscoveredHost.Key) -> DiscoveredHost? { places[key].map { hosts[$0] } }

    /// Adds, replaces or removes the host of an event.
    ///
    /// - Returns: The host of the event as it was before; nil for one that was not in sight, and for events about no
    ///   host.
    @discardableResult package mutating func take(_ event: DiscoveryEvent) -> DiscoveredHost? {
        switch event {
        case .added(let host), .changed(let host):
            let old = self[host.key]
            put(host)
            return old
        case .removed(let host): return remove(host.key)
        case .settled, .incomplete, .interrupted, .resumed: return nil
        }
    }

    /// Sorts by name and then id.
    package mutating func sort() {
        self = HostsInSight(hosts.sorted { ($0.name, $0.id) < ($1.name, $1.id) })
    }

    /// Merges what another search has found. Where both know a host, the other search takes precedence. A host that
    /// only one of them could resolve is listed once, as resolved.
    package mutating func merge(_ other: HostsInSight) {
        other.hosts.forEach { put($0) }
        let resolved = Set(hosts.filter { !$0.unresolved }.map(Advert.init))
        self = HostsInSight(hosts.filter { !$0.unresolved || !resolved.contains(Advert($0)) })
    }

    /// Identifies a host before it is resolved.
    private struct Advert: Hashable {
        var family: HostFamily
        var instanceName: String

        init(_ host: DiscoveredHost) {
            (family, instanceName) = (host.family, host.instanceName)
        }
    }

    private mutating func put(_ host: DiscoveredHost) {
        if let place = places[host.key] {
            hosts[place] = host
        } else {
            places[host.key] = hosts.count
            hosts.append(host)
        }
    }

    /// The last host takes the place of the removed one, so that many may leave at once.
    private mutating func remove(_ key: DiscoveredHost.Key) -> DiscoveredHost? {
        guard let place = places.removeValue(forKey: key), let last = hosts.popLast() else { return nil }
        guard place < hosts.count else { return last }
        let removed = hosts[place]
        hosts[place] = last
        places[last.key] = place
        return removed
    }
}
