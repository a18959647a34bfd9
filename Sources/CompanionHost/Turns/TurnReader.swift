import NIOCore

/// Reads a turn's frames from a number on, for one client.
struct TurnReader: Sendable {
    /// Frames and bytes that are read from the database at a time; one larger frame may exceed the latter.
    static let pageCount = 256
    static let pageSize = 256 << 10

    enum Item: Sendable {
        /// The next frames; at least one.
        case frames([TurnFrame])
        /// Nothing for a while, or just time for a sign of life.
        case heartbeat
        /// All frames have been handed out.
        case end(TurnState)
    }

    private let log: TurnEventLog
    private let turnID: String
    /// nil when the turn had ended before.
    private let feed: TurnFeed?
    private let outcome: TurnState
    private let waking: (id: Int, iterator: AsyncStream<Void>)?
    private var cursor: Int
    private var beats: Int

    /// - Parameter outcome: How a turn without a feed has ended.
    init(log: TurnEventLog, turnID: String, feed: TurnFeed?, outcome: TurnState, after number: Int) {
        self.log = log
        self.turnID = turnID
        self.feed = feed
        self.outcome = outcome
        let waking = feed?.startWaking()
        self.waking = waking.map { (id: $0.id, iterator: $0.stream) }
        cursor = number
        beats = feed?.beats ?? 0
    }

    /// Waits for the next item, and returns it. To be called until it is ``Item/end(_:)``, then ``close()``.
    ///
    /// - Throws: `CancellationError`, or ``CompanionHostError`` when the database fails.
    mutating func next() async throws -> Item {
        while true {
            if let feed {
                let now = feed.beats
                if now != beats {
                    beats = now
                    return .heartbeat
                }
            }
            switch try feed?.step(after: cursor) ?? .readStored {
            case .frames(let frames): return advance(frames)
            case .end(let state): return .end(state)
            case .readStored:
                let frames = try await log.stored(turnID: turnID, after: cursor)
                guard !frames.isEmpty else { return .end(outcome) }
                return advance(frames)
            case .wait:
                guard let waking else { return .end(outcome) }
                var iterator = waking.iterator.makeAsyncIterator()
                guard await iterator.next() != nil else { throw CancellationError() }
            }
        }
    }

    func close() {
        if let waking { feed?.stopWaking(waking.id) }
    }

    private mutating func advance(_ frames: [TurnFrame]) -> Item {
        cursor = frames.last?.number ?? cursor
        return .frames(frames)
    }
}
