import CompanionWire
package import FoundationEssentials
import GRDB
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// Keeps the frames of turns so that a stream can be resumed: while the turn goes on, after its end, and after a
/// restart of the host.
///
/// A frame is stored before anybody sees it, so all that a client has seen survives the end of this process. A power
/// cut may lose the frames of the last moments (SQLite's `synchronous = NORMAL`), but it ends the connection as well.
package final class TurnEventLog: Sendable {
    /// Seconds for which the frames of a turn are kept after its end: two hours.
    package static let keptFor: TimeInterval = 2 * 3600
    /// Seconds between two signs of life in a stream (companion-v2, Streams).
    package static let heartbeat: TimeInterval = 15
    /// The last message of a turn whose frames the database did not take.
    package static let notStoredText = "The answer could not be stored: this turn was ended"
    /// The last message of a turn that an earlier host left unfinished.
    package static let interruptedText = "The host was restarted: this turn was interrupted"

    enum Change: Sendable {
        case open(device: String, at: Date)
        case frame(TurnFrame)
        /// The chat's agent works in another mode from now on. `announce` is called when that is stored.
        case mode(AgentMode, announce: @Sendable () -> Void)
        /// The turn ends. `answer` is stored in its chat, and counted for the device that asked; nil if there is none.
        case end(TurnState, at: Date, answer: Answer?)
    }

    /// The answer of a turn, which goes to its chat's history.
    struct Answer: Sendable {
        var message: MessageDraft
        /// The device that asked.
        var device: String
        /// Called when it is stored, with the id of the chat's project.
        var announce: @Sendable (String?) -> Void
    }

    /// The changes of one turn that a transaction stores.
    struct Part: Sendable {
        let feed: TurnFeed
        var changes: [Change]
        /// The project of the chat that got an answer.
        var project: String?
        var failure: CompanionHostError?
    }

    private struct State {
        var live: [String: TurnFeed] = [:]
        var changes: [(feed: TurnFeed, change: Change)] = []
        var isWriting = false
        /// The callers of ``drain()`` that wait until nothing is being written.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let database: HostDatabase
    private let clock: HostClock
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    /// Ends the turns that an earlier host left unfinished.
    init(database: HostDatabase, clock: HostClock, logger: Logger) throws(CompanionHostError) {
        self.database = database
        self.clock = clock
        self.logger = logger
        let now = clock.now()
        try database.writeBlocking { try Self.endInterrupted(at: now, in: $0) }
    }

    // MARK: Writing

    /// Opens the log of a turn that waits.
    func open(_ feed: TurnFeed, device: String) {
        state.withLockedValue { $0.live[feed.id] = feed }
        note([.open(device: device, at: clock.now())], of: feed)
    }

    /// Adds a frame.
    ///
    /// - Parameter announce: Called when a frame of a mode is stored, and the mode with it.
    func publish(
        _ event: TurnEvent,
        in feed: TurnFeed,
        announce: @escaping @Sendable () -> Void = {}
    ) {
        feed.publish { number in
            var changes = [Change.frame(TurnFrame(number: number, event: event))]
            if case .mode(let mode) = event { changes.append(.mode(mode, announce: announce)) }
            note(changes, of: feed)
        }
    }

    /// Ends a turn with its last frame: readers see its end once all of it is stored. No crash comes between the frame,
    /// the end and the answer in the chat's history.
    func end(_ feed: TurnFeed, with event: TurnEvent, as outcome: TurnState, answer: Answer? = nil) {
        let now = clock.now()
        feed.publish {
            note([.frame(TurnFrame(number: $0, event: event)), .end(outcome, at: now, answer: answer)], of: feed)
        }
    }

    /// Returns when all that was noted so far is stored, or cannot be.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLockedValue { state in
                if state.isWriting { state.waiting.append(continuation) }
                return !state.isWriting
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Takes changes that are stored together, or not at all.
    private func note(_ changes: [Change], of feed: TurnFeed) {
        let isFirst = state.withLockedValue { state in
            state.changes += changes.map { (feed, $0) }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { write() }
    }

    /// Writes all changes so far in one transaction. Changes that come meanwhile go into the next one.
    private func write() {
        let batch = NIOLockedValueBox<[Part]>([])
        let now = clock.now()
        database.enqueueWrite { [state] database in
            let changes = state.withLockedValue { state in
                defer { state.changes = [] }
                return state.changes
            }
            batch.withLockedValue { $0 = Self.parts(of: changes) }
            // A copy: nothing is locked while the database works.
            var parts = batch.withLockedValue { $0 }
            defer { batch.withLockedValue { $0 = parts } }
            for index in parts.indices { try Self.write(&parts[index], at: now, in: database) }
        } completion: { result in
            self.written(batch.withLockedValue { $0 }, result: result)
        }
    }

    /// Groups the changes by turn, in their order. Changes of a turn that has failed are dropped.
    private static func parts(of changes: [(feed: TurnFeed, change: Change)]) -> [Part] {
        var parts: [Part] = []
        var places: [ObjectIdentifier: Int] = [:]
        for (feed, change) in changes where !feed.hasFailed {
            if let place = places[ObjectIdentifier(feed)] {
                parts[place].changes.append(change)
            } else {
                places[ObjectIdentifier(feed)] = parts.count
                parts.append(Part(feed: feed, changes: [change]))
            }
        }
        return parts
    }

    private func written(_ parts: [Part], result: Result<Void, CompanionHostError>) {
        for part in parts {
            var failure = part.failure
            if case .failure(let error) = result { failure = error }
            settle(part, failure: failure)
        }
        let waiting = state.withLockedValue { state -> [CheckedContinuation<Void, Never>]? in
            state.isWriting = !state.changes.isEmpty
            guard !state.isWriting else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return write() }
        for continuation in waiting { continuation.resume() }
    }

    /// Shows a turn's readers the frames that are stored now.
    private func settle(_ part: Part, failure: CompanionHostError?) {
        let feed = part.feed
        if let failure {
            logger.error("turn events not stored", metadata: .failure(failure, ["turn": "\(feed.id)"]))
            state.withLockedValue { _ = $0.live.removeValue(forKey: feed.id) }
            feed.failed(failure)
            return
        }
        var frames: [TurnFrame] = []
        var outcome: TurnState?
        for change in part.changes {
            switch change {
            case .open: feed.opened()
            case .mode(_, let announce): announce()
            case .frame(let frame): frames.append(frame)
            case .end(let state, _, let answer):
                outcome = state
                answer?.announce(part.project)
            }
        }
        if !frames.isEmpty { feed.stored(frames) }
        guard let outcome else { return }
        state.withLockedValue { _ = $0.live.removeValue(forKey: feed.id) }
        feed.ended(outcome)
    }

    // MARK: Reading

    /// Whether there is or was such a turn. One that is being opened is waited for.
    ///
    /// - Throws: ``CompanionHostError`` when it cannot be opened, `CancellationError`.
    func knows(turnID: String) async throws -> Bool {
        if let feed = state.withLockedValue({ $0.live[turnID] }) {
            try await feed.waitUntilOpened()
            return true
        }
        return try await turn(id: turnID) != nil
    }

    /// A turn that goes on, or whose frames are kept; nil for any other.
    func turn(id: String) async throws(CompanionHostError) -> TurnSummary? {
        try await database.read { try Self.turn(id: id, in: $0) }
    }

    /// Reads a turn's frames.
    ///
    /// - Parameter number: The number of the last frame that is not wanted any more; 0 for all.
    /// - Returns: nil for an unknown turn.
    /// - Throws: ``LastEventIDError`` for the number of a frame that does not exist yet.
    func reader(turnID: String, after number: Int = 0) async throws -> TurnReader? {
        if let feed = state.withLockedValue({ $0.live[turnID] }) {
            guard number <= feed.lastStored else { throw LastEventIDError() }
            return TurnReader(log: self, turnID: turnID, feed: feed, outcome: .interrupted, after: number)
        }
        let found = try await database.read { database -> (state: TurnState, last: Int)? in
            guard let turn = try Self.turn(id: turnID, in: database) else { return nil }
            return (turn.state, try Self.lastNumber(turnID: turnID, in: database))
        }
        guard let found else { return nil }
        guard number <= found.last else { throw LastEventIDError() }
        return TurnReader(log: self, turnID: turnID, feed: nil, outcome: found.state, after: number)
    }

    /// A page of stored frames.
    func stored(turnID: String, after number: Int) async throws(CompanionHostError) -> [TurnFrame] {
        try await database.read { try Self.frames(turnID: turnID, after: number, in: $0) }
    }

    // MARK: Upkeep

    /// Wakes the streams for signs of life and removes old turns, until the host ends.
    package func run() async {
        await cancelWhenGracefulShutdown {
            var beats = 0
            var deadline = self.clock.now()
            while true {
                // The turns of the time before the start, then twelve times an hour.
                if beats % 20 == 0 { await self.prune() }
                beats += 1
                // No burst after the machine was asleep.
                deadline = max(deadline.addingTimeInterval(Self.heartbeat), self.clock.now())
                guard (try? await self.clock.sleepUntil(deadline)) != nil else { return }
                for feed in self.state.withLockedValue({ Array($0.live.values) }) { feed.beat() }
            }
        }
    }

    private func prune() async {
        let limit = CompanionTimestamp.string(from: clock.now().addingTimeInterval(-Self.keptFor))
        do {
            _ = try await database.write { try StoredTurn.filter(Column("endedAt") < limit).deleteAll($0) }
        } catch {
            logger.error("old turns not removed", metadata: .failure(error))
        }
    }
}

/// The error of a client that asks for the frames after one that does not exist.
struct LastEventIDError: Error {}
