import CompanionWire
import FoundationEssentials

/// The pairings of v2 that are under way. A value: the caller passes the time.
///
/// An exchange for the digits that got the host's share holds a guess: no more of them are open than guesses are left,
/// so that parallel attempts gain nothing. When none is left, the exchange of an address that holds several, or one
/// that does not finish soon, is dropped: one machine cannot keep the guesses from others by not using them.
struct PairingExchanges<Secret: Sendable>: Sendable {
    /// Exchanges at a time (companion-v2, Guess budget).
    static var limit: Int { 16 }
    /// Seconds that a device may take between two steps once it has the host's share.
    static var stepTimeout: TimeInterval { 30 }
    /// Seconds after which an exchange that has only sent hello may be dropped for another one.
    static var idleTimeout: TimeInterval { 20 }
    /// Seconds after which an exchange that holds a guess may be dropped for another one: a device needs milliseconds.
    static var guessTimeout: TimeInterval { 3 }

    struct Exchange: Sendable {
        var id: String
        /// The challenge that it began under.
        var challenge: Int
        var address: String
        var clientNonce: [UInt8]
        var hostNonce: [UInt8]
        var startedAt: Date
        var deadline: Date
        /// The data of the device's second step; nil until the shares are exchanged.
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

    /// Adds an exchange.
    ///
    /// - Returns: Whether there was a place.
    mutating func add(_ exchange: Exchange) -> Bool {
        let now = exchange.startedAt
        prune(now: now)
        if exchanges.count >= Self.limit {
            let idle = exchanges.values.filter {
                $0.share == nil && now.timeIntervalSince($0.startedAt) >= Self.idleTimeout
            }
            guard let oldest = idle.min(by: { $0.startedAt < $1.startedAt }) else { return false }
            exchanges[oldest.id] = nil
        }
        exchanges[exchange.id] = exchange
        return true
    }

    func exchange(_ id: String) -> Exchange? { exchanges[id] }

    /// Makes room for the guess of an exchange: an exchange that is dropped for it can never be confirmed.
    ///
    /// - Parameter guesses: How many the challenge has left.
    /// - Returns: Whether there is a guess left for it.
    mutating func reserve(_ exchange: Exchange, guesses: Int, now: Date) -> Bool {
        let holders = exchanges.values.filter { $0.share?.method == .code && $0.challenge == exchange.challenge }
            .sorted { $0.deadline < $1.deadline }
        guard holders.count >= guesses else { return true }
        guard guesses > 0 else { return false }
        let counts = holders.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
        let greedy = counts[exchange.address] == nil ? holders.first { counts[$0.address, default: 0] > 1 } : nil
        let slow = holders.first { $0.deadline.timeIntervalSince(now) <= Self.stepTimeout - Self.guessTimeout }
        guard let given = greedy ?? slow else { return false }
        exchanges[given.id] = nil
        return true
    }

    /// Notes the shares of an exchange, which has to be confirmed soon.
    mutating func setShare(_ share: Share, of id: String, now: Date) {
        exchanges[id]?.share = share
        exchanges[id]?.deadline = now.addingTimeInterval(Self.stepTimeout)
    }

    /// Ends an exchange, and releases the guess that it held.
    @discardableResult
    mutating func remove(_ id: String) -> Exchange? { exchanges.removeValue(forKey: id) }

    mutating func removeAll() {
        exchanges = [:]
    }

    /// Ends the exchanges that were to prove the digits.
    mutating func removeGuesses() {
        exchanges = exchanges.filter { $0.value.share?.method != .code }
    }

    /// Ends the exchanges whose time is over.
    ///
    /// - Returns: Those that were ended.
    @discardableResult
    mutating func prune(now: Date) -> [Exchange] {
        let over = exchanges.values.filter { $0.deadline <= now }
        for exchange in over { exchanges[exchange.id] = nil }
        return over
    }
}
