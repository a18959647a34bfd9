import CompanionWire
import FoundationEssentials

/// The pairings of v2 that are under way. A value; times come in.
///
/// An exchange that got the host's share holds a guess: no more of them are open than guesses are left, so that trying
/// at the same time gains nothing.
struct PairingExchanges<Secret: Sendable>: Sendable {
    /// Exchanges at a time (companion-v2, Guess budget).
    static var limit: Int { 16 }
    /// Seconds that a device may take between two steps once it has the host's share.
    static var patience: TimeInterval { 30 }
    /// Seconds after which an exchange that only said hello gives way to another one.
    static var courtesy: TimeInterval { 20 }

    struct Exchange: Sendable {
        var id: String
        /// The challenge that it began under.
        var challenge: Int
        var address: String
        var clientNonce: [UInt8]
        var hostNonce: [UInt8]
        var startedAt: Date
        var deadline: Date
        /// What is known once the shares are exchanged.
        var share: Share?
    }

    struct Share: Sendable {
        var method: PairingMethod
        var deviceName: String
        var devicePublicKey: String
        var permissions: [CompanionPermission]
        var secret: Secret
    }

    private var exchanges: [String: Exchange] = [:]

    /// Guesses that open exchanges hold.
    var reserved: Int { exchanges.values.count { $0.share != nil } }

    /// Adds an exchange.
    ///
    /// - Returns: Whether there was a place.
    mutating func add(_ exchange: Exchange) -> Bool {
        let now = exchange.startedAt
        prune(now: now)
        if exchanges.count >= Self.limit {
            let idle = exchanges.values.filter {
                $0.share == nil && now.timeIntervalSince($0.startedAt) >= Self.courtesy
            }
            guard let oldest = idle.min(by: { $0.startedAt < $1.startedAt }) else { return false }
            exchanges[oldest.id] = nil
        }
        exchanges[exchange.id] = exchange
        return true
    }

    func exchange(_ id: String) -> Exchange? { exchanges[id] }

    /// Notes the shares of an exchange, which has to be confirmed soon.
    mutating func setShare(_ share: Share, of id: String, now: Date) {
        exchanges[id]?.share = share
        exchanges[id]?.deadline = now.addingTimeInterval(Self.patience)
    }

    /// Ends an exchange, and gives back what it held.
    @discardableResult
    mutating func remove(_ id: String) -> Exchange? { exchanges.removeValue(forKey: id) }

    mutating func removeAll() {
        exchanges = [:]
    }

    mutating func prune(now: Date) {
        exchanges = exchanges.filter { $0.value.deadline > now }
    }
}
