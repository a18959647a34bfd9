/// An event while hosts are browsed. Events are deltas: none is ever dropped.
package enum DiscoveryEvent: Sendable, Hashable {
    /// A host was resolved for the first time, or could not be (``DiscoveredHost/unresolved``).
    case added(DiscoveredHost)
    /// Something of a known host has changed; its ``DiscoveredHost/id`` has not.
    case changed(DiscoveredHost)
    /// The last service of a host has left. The host is as it was last seen.
    case removed(DiscoveredHost)
    /// Every answer that the engine knows of is in, and is resolved or has failed. It comes again after
    /// ``resumed(_:)``.
    case settled
    /// Hosts may be missing, or their changes. It comes before ``settled``, or while watching.
    case incomplete(Incompleteness)
    /// The engine that was in use is gone. Another try follows, and more with growing pauses; the hosts seen so far
    /// stay until the next ``settled``.
    case interrupted(DiscoveryError, DiscoveryEngineKind)
    /// Browsing goes on with this engine, which need not be the one that was lost.
    case resumed(DiscoveryEngineKind)
}

/// The reasons for which what was found may not be all there is.
package enum Incompleteness: Sendable, Hashable {
    /// The engine keeps so many records of a network and drops further ones without a word; about `used` are needed for
    /// what was found, more than half of `limit`. Hosts have records that are not counted here, so more may be lost.
    case engineFull(limit: Int, used: Int)
    /// Changes of so many hosts are not seen while they stay: the engine watches no more at a time.
    case unwatched(Int)
}

extension Incompleteness: CustomStringConvertible {
    /// The reason as a sentence for people, without a full stop.
    package var description: String {
        switch self {
        case .engineFull(let limit, let used):
            "the mDNS engine keeps \(limit) records of a network, and the hosts found take \(used) or more: some may be missing"
        case .unwatched(let count):
            "more hosts than the mDNS engine can watch: it sees no changes to \(count) adverts until they leave"
        }
    }
}
