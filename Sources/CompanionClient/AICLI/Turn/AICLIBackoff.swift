/// The waits between connection attempts: each about twice as long as the one before, from 1 s to 300 s. A random
/// addition keeps the clients of a restarted server from connecting at the same time.
struct AICLIBackoff: Sendable {
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(300)

    private var backoff: Backoff
    /// Returns a number in 0..<1.
    private let random: @Sendable () -> Double

    init(tries: Int, random: @escaping @Sendable () -> Double) {
        backoff = Backoff(.init(count: tries, firstWait: Self.firstWait, longestWait: Self.longestWait))
        self.random = random
    }

    /// The next wait; nil after too many attempts in a row.
    mutating func next() -> Duration? {
        backoff.next().map { min($0 + $0 * (random() / 2), Self.longestWait) }
    }

    mutating func reset() {
        backoff.reset()
    }
}
