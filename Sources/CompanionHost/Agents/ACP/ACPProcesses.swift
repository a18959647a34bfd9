import CompanionWire

/// The processes of an agent: one for each project, and a further one while all of a project wait for people. Agents
/// that wait for an answer may not even begin another session.
struct ACPProcesses: Sendable {
    /// Processes that stay although nobody uses them.
    private static let most = 8

    private struct Seat {
        var project: ByteText
        var connection: ACPConnection
        /// Counts the turns of all of them.
        var usedAt: Int
    }

    private var seats: [Seat] = []
    private var turns = 0

    /// Those that run, or are being started.
    var connections: [ACPConnection] { seats.map(\.connection).filter { !$0.takesNoMore } }

    /// Takes a process for a turn of a chat. It is one more user of it.
    ///
    /// - Parameter make: Makes a connection whose process is to be started.
    /// - Returns: The connection, and whether it was made.
    mutating func take(
        for chat: String,
        in project: String,
        _ make: () -> ACPConnection
    ) -> (connection: ACPConnection, isNew: Bool) {
        let place = ByteText(project)
        seats.removeAll { $0.project == place && $0.connection.takesNoMore }
        let here = seats.filter { $0.project == place }.map(\.connection)
        turns += 1
        // Its session goes on where it is, unless that process waits for another chat and the session can move.
        let home = here.first { $0.session(ofChat: chat) != nil }
        let usual = home.map { $0.canMoveSessions ? [$0] + here : [$0] } ?? here
        for connection in usual where !connection.waitsForPeople(besides: chat) && connection.take() {
            if let home, home !== connection { home.forget(chat: chat) }
            use(connection)
            return (connection, false)
        }
        if let home, !home.canMoveSessions, home.take() {
            use(home)
            return (home, false)
        }
        home?.forget(chat: chat)
        endIdle()
        let connection = make()
        _ = connection.take()
        seats.append(Seat(project: place, connection: connection, usedAt: turns))
        return (connection, true)
    }

    private mutating func use(_ connection: ACPConnection) {
        guard let index = seats.firstIndex(where: { $0.connection === connection }) else { return }
        seats[index].usedAt = turns
    }

    /// Ends the processes that nobody has used for longest, as far as their sessions can be taken up again.
    private mutating func endIdle() {
        let idle = seats.filter { $0.connection.isIdle && $0.connection.canMoveSessions }.sorted {
            $0.usedAt < $1.usedAt
        }
        let live = seats.count { !$0.connection.takesNoMore }
        for seat in idle.prefix(max(live + 1 - Self.most, 0)) {
            seat.connection.retire()
            seats.removeAll { $0.connection === seat.connection }
        }
    }

    /// Whether no other process is at work for the project of this one.
    func isNewest(_ connection: ACPConnection) -> Bool {
        guard let seat = seats.last(where: { $0.connection === connection }) else { return false }
        return seats.last { $0.project == seat.project }?.connection === connection
    }
}
