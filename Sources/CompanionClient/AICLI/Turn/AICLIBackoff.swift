/// The waits before new connections: each about twice as long as the one before, from 1 s to 300 s, and a random part
/// more so that the clients of a server that comes back do not all come at once.
struct AICLIBackoff: Sendable {
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(300)

    private var backoff: Backoff
    /// Gives 0..<1.
    private let random: @Sendable () -> Double

    init(tries: Int, random: @escaping @Sendable () -> Double) {
        backoff = Backoff(.init(count: tries, firstWait: Self.firstWait, longestWait: Self.longestWait))
        self.random = random
    }

    /// Nil when there were enough in a row.
    mutating func next() -> Duration? {
        backoff.next().map { min($0 + $0 * (random() / 2), Self.longestWait) }
    }

    mutating func reset() {
        backoff.reset()
    }
}
