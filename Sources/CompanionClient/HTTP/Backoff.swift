extension CompanionClientConfiguration.Retries {
    /// For requests that only read: two retries after an immediate one.
    var ofReads: CompanionClientConfiguration.Retries {
        CompanionClientConfiguration.Retries(count: min(count, 2), firstWait: firstWait, longestWait: longestWait)
    }
}

/// The waits between tries: each twice as long as the one before.
struct Backoff: Sendable {
    private let retries: CompanionClientConfiguration.Retries
    private var count = 0
    private var wait: Duration

    init(_ retries: CompanionClientConfiguration.Retries) {
        self.retries = retries
        wait = retries.firstWait
    }

    var hasBegun: Bool { count > 0 }

    /// The wait before the next try; nil when there were enough in a row.
    mutating func next() -> Duration? {
        guard count < retries.count else { return nil }
        count += 1
        defer { wait = min(wait * 2, retries.longestWait) }
        return wait
    }

    /// Starts over after a success.
    mutating func reset() {
        self = Backoff(retries)
    }
}
