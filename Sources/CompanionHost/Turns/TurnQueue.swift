import CompanionWire

/// Which turns run: one at a time per chat, a bounded number of all, a bounded number waiting. A value without effects.
///
/// Every turn has an owner: the device that asked. Chat ids are the clients' choice, so that limits per chat alone
/// would be none.
struct TurnQueue<Turn: Sendable>: Sendable {
    enum Admission: Sendable, Equatable {
        case start
        case wait
        /// Too many wait for this chat already, or the host is ending.
        case refuse
        /// Too many wait already.
        case refuseAny
    }

    private struct Entry {
        var turn: Turn
        var chatID: String
        var owner: String
    }

    /// Turns that may wait for one chat.
    let waitingPerChat: Int
    /// Turns that may run, of all chats.
    let running: Int
    /// Turns that may wait, of all chats.
    let waiting: Int
    private var active: [String: Entry] = [:]
    /// Chats in which nothing is to start for a while.
    private var held: Set<String> = []
    /// The oldest first.
    private var queue: [Entry] = []
    private var isStopped = false

    init(waitingPerChat: Int, running: Int, waiting: Int) {
        self.waitingPerChat = waitingPerChat
        self.running = running
        self.waiting = waiting
    }

    /// Admits a turn; one that waits is kept and comes back from ``finish(chatID:)``.
    mutating func admit(_ turn: Turn, chatID: String, owner: String) -> Admission {
        guard !isStopped else { return .refuse }
        let entry = Entry(turn: turn, chatID: chatID, owner: owner)
        if isFree(chatID), active.count < running {
            active[chatID] = entry
            return .start
        }
        guard queue.count(where: { $0.chatID == chatID }) < waitingPerChat else { return .refuse }
        guard queue.count < waiting else { return .refuseAny }
        queue.append(entry)
        return .wait
    }

    /// Notes that a chat's turn has ended.
    ///
    /// - Returns: The turn that is to start now.
    mutating func finish(chatID: String) -> Turn? {
        active[chatID] = nil
        return next()
    }

    /// Lets nothing start in a chat until ``release(chatID:)``.
    ///
    /// - Returns: false for a chat that has a turn, or is held already.
    mutating func hold(chatID: String) -> Bool {
        guard isFree(chatID), !isBusy(chatID: chatID) else { return false }
        return held.insert(chatID).inserted
    }

    /// - Returns: The turn that is to start now.
    mutating func release(chatID: String) -> Turn? {
        held.remove(chatID)
        return next()
    }

    private func isFree(_ chatID: String) -> Bool { active[chatID] == nil && !held.contains(chatID) }

    private mutating func next() -> Turn? {
        // Whatever waits for a chat that is free waited for a place, or for this chat: one place at most became free.
        guard active.count < running, let index = queue.firstIndex(where: { isFree($0.chatID) }) else { return nil }
        let next = queue.remove(at: index)
        active[next.chatID] = next
        return next.turn
    }

    /// Removes the waiting turns of owners that may not have any now.
    ///
    /// - Parameter mayStay: Whether an owner keeps its turns.
    /// - Returns: The turns that will not start, and those that run and are to be ended; these still count as
    ///   running until ``finish(chatID:)``.
    mutating func keep(where mayStay: (String) -> Bool) -> (waiting: [Turn], running: [Turn]) {
        let left = queue.filter { !mayStay($0.owner) }.map(\.turn)
        queue.removeAll { !mayStay($0.owner) }
        return (left, active.values.filter { !mayStay($0.owner) }.map(\.turn))
    }

    /// Removes the waiting turns that a condition is true of.
    ///
    /// - Returns: The same as ``keep(where:)``.
    mutating func remove(where condition: (Turn) -> Bool) -> (waiting: [Turn], running: [Turn]) {
        let left = queue.filter { condition($0.turn) }.map(\.turn)
        queue.removeAll { condition($0.turn) }
        return (left, active.values.filter { condition($0.turn) }.map(\.turn))
    }

    /// The turn of a chat that runs.
    func running(chatID: String) -> Turn? { active[chatID]?.turn }

    /// Whether a chat has a turn that runs or waits.
    func isBusy(chatID: String) -> Bool {
        active[chatID] != nil || queue.contains { $0.chatID.isSame(as: chatID) }
    }

    /// Admits nothing any more.
    ///
    /// - Returns: All turns that wait and will not start.
    mutating func stop() -> [Turn] {
        isStopped = true
        defer { queue = [] }
        return queue.map(\.turn)
    }
}
