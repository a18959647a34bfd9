/// Which turns run: one at a time per chat, a bounded number waiting. A value without effects.
struct TurnQueue<Turn: Sendable>: Sendable {
    enum Admission: Sendable, Equatable {
        case start
        case wait
        /// Too many wait already, or the host is ending.
        case refuse
    }

    /// Turns that may wait for one chat.
    let capacity: Int
    private var waiting: [String: [Turn]] = [:]
    private var isStopped = false

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Admits a turn; one that waits is kept and comes back from ``finish(chatID:)``.
    mutating func admit(_ turn: Turn, chatID: String) -> Admission {
        guard !isStopped else { return .refuse }
        guard let queue = waiting[chatID] else {
            waiting[chatID] = []
            return .start
        }
        guard queue.count < capacity else { return .refuse }
        waiting[chatID] = queue + [turn]
        return .wait
    }

    /// Notes that a chat's turn has ended.
    ///
    /// - Returns: The turn that is to start now.
    mutating func finish(chatID: String) -> Turn? {
        guard var queue = waiting[chatID], !queue.isEmpty else {
            waiting[chatID] = nil
            return nil
        }
        let next = queue.removeFirst()
        waiting[chatID] = queue
        return next
    }

    /// Admits nothing any more.
    ///
    /// - Returns: All turns that wait and will not start.
    mutating func stop() -> [Turn] {
        isStopped = true
        let left = waiting.values.flatMap { $0 }
        waiting = waiting.mapValues { _ in [] }
        return left
    }
}
