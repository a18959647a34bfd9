/// The rhythm in which a host comes back to a relay.
struct RelayRetries: Sendable {
    /// The consequence of a failure.
    struct Retry: Sendable, Hashable {
        /// The wait before the next try.
        var wait: Duration
        /// Whether the failure is one for people. It is not where the relay has only not noticed a loss yet.
        var isReported: Bool
    }

    static let shortestLimit = Duration.seconds(1)
    static let longestLimit = Duration.seconds(30)
    /// How long after a loss a relay may think that the lost connection stands: its own time limit for a silent one.
    static let patience = Duration.seconds(120)
    /// A host that was joined for so long starts over with short waits. One that is thrown out at once does not.
    static let steady = Duration.seconds(60)

    private var limit = shortestLimit
    private var joinedAt: Duration?
    private var lostAt: Duration?

    /// - Parameter time: Measured from any start.
    mutating func noteJoin(at time: Duration) {
        joinedAt = time
    }

    /// - Parameters:
    ///   - time: Measured from the same start.
    ///   - random: From 0 up to 1: the share of the wait (full jitter). All hosts of a relay that was restarted would
    ///     come at the same moment otherwise.
    mutating func noteFailure(_ code: RelayError.Code, at time: Duration, random: Double) -> Retry {
        if let joinedAt {
            lostAt = time
            if time - joinedAt >= Self.steady { limit = Self.shortestLimit }
        }
        joinedAt = nil
        defer { limit = min(limit * 2, Self.longestLimit) }
        var isUnnoticed = false
        if let lostAt, code == .alreadyConnected { isUnnoticed = time - lostAt < Self.patience }
        return Retry(wait: limit * random, isReported: !isUnnoticed)
    }
}
