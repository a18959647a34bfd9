import FoundationEssentials

/// How often an address may ask: a bucket of tokens for each, refilled with time. A value; times come in.
struct AddressLimiter: Sendable {
    /// Addresses that are told apart; beyond them all share one bucket.
    static let addresses = 1024

    private struct Bucket {
        var tokens: Double
        var filledAt: Date
    }

    /// Requests at once.
    let burst: Int
    /// Seconds after which one more is allowed.
    let interval: TimeInterval
    private var buckets: [String: Bucket] = [:]

    init(burst: Int, interval: TimeInterval) {
        self.burst = burst
        self.interval = interval
    }

    /// Takes a token of an address.
    ///
    /// - Returns: Whether there was one.
    mutating func take(_ address: String, now: Date) -> Bool {
        if buckets[address] == nil, buckets.count >= Self.addresses {
            buckets = buckets.filter { filled($0.value, now: now) < Double(burst) }
        }
        let key = buckets[address] != nil || buckets.count < Self.addresses ? address : ""
        let tokens = buckets[key].map { filled($0, now: now) } ?? Double(burst)
        guard tokens >= 1 else { return false }
        buckets[key] = Bucket(tokens: tokens - 1, filledAt: now)
        return true
    }

    /// How many requests an address may make at once now.
    func left(_ address: String, now: Date) -> Int {
        let key = buckets[address] != nil || buckets.count < Self.addresses ? address : ""
        return Int(buckets[key].map { filled($0, now: now) } ?? Double(burst))
    }

    private func filled(_ bucket: Bucket, now: Date) -> Double {
        // A clock that was set back fills nothing.
        let gained = max(now.timeIntervalSince(bucket.filledAt), 0) / interval
        return min(bucket.tokens + gained, Double(burst))
    }
}
