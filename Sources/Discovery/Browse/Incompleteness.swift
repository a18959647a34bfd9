/// Why what was found may not be all there is.
package enum Incompleteness: Sendable, Hashable {
    /// The engine keeps so many records of a network and drops further ones without a word; about `used` are needed for
    /// what was found, more than half of `limit`. Hosts have records that are not counted here, so more may be lost.
    case engineFull(limit: Int, used: Int)
    /// Changes of so many hosts are not seen while they stay: the engine watches no more at a time.
    case unwatched(Int)
}

extension Incompleteness: CustomStringConvertible {
    package var description: String {
        switch self {
        case .engineFull(let limit, let used):
            "the mDNS engine keeps \(limit) records of a network, and what was found takes \(used) or more: hosts may be missing"
        case .unwatched(let count):
            "more hosts than the mDNS engine can watch: changes of \(count) adverts are not seen, only that they leave"
        }
    }
}
