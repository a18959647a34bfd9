import FoundationEssentials

/// Limits how often an address or a device may ask, by a token bucket for each. A value: the caller passes the time.
struct RateLimiter: Sendable {
    /// How many have buckets of their own; all others share one.
    static let maximumBuckets = 1024

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

    /// Takes a token.
    ///
    /// - Parameter id: Of the address or the device.
    /// - Returns: Whether there was one.
    mutating func take(_ id: String, now: Date) -> Bool {
        if buckets[id] == nil, buckets.count >= Self.maximumBuckets {
            buckets = buckets.filter { filled($0.value, now: now) < Double(burst) }
        }
        let key = key(id)
        let tokens = buckets[key].map { filled($0, now: now) } ?? Double(burst)
        guard tokens >= 1 else { return false }
        buckets[key] = Bucket(tokens: tokens - 1, filledAt: now)
        return true
    }

    /// How many requests it may make at once now.
    func left(_ id: String, now: Date) -> Int {
        let key = key(id)
        return Int(buckets[key].map { filled($0, now: now) } ?? Double(burst))
    }

    private func key(_ id: String) -> String {
        buckets[id] != nil || buckets.count < Self.maximumBuckets ? id : ""
    }

    private func filled(_ bucket: Bucket, now: Date) -> Double {
        // A clock that was set back fills nothing.
        let gained = max(now.timeIntervalSince(bucket.filledAt), 0) / interval
        return min(bucket.tokens + gained, Double(burst))
    }
}
