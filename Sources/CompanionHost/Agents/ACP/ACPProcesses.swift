import CompanionWire

/// The processes of an agent: one for each project, and a further one while all of a project wait for people. Agents
/// that wait for an answer may not even begin another session.
struct ACPProcesses: Sendable {
    /// Processes that stay although nobody uses them.
    private static let most = 8

    private struct Seat {
        var project: ByteText
        var connection: ACPConnection
    }

    /// In the order of their last use.
    private var seats: [Seat] = []

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
        // Its session goes on where it is, unless that process waits for another chat and the session can move.
        let home = here.first { $0.session(ofChat: chat) != nil }
        let usual = home.map { $0.canMoveSessions ? [$0] + here : [$0] } ?? here
        var taken = usual.first { !$0.waitsForPeople(besides: chat) && $0.take() }
        if taken == nil, let home, !home.canMoveSessions, home.take() { taken = home }
        if let home, home !== taken { home.forget(chat: chat) }
        if let taken {
            seats.removeAll { $0.connection === taken }
            seats.append(Seat(project: place, connection: taken))
            return (taken, false)
        }
        endIdle()
        let connection = make()
        _ = connection.take()
        seats.append(Seat(project: place, connection: connection))
        return (connection, true)
    }

    /// Takes a process for something that is about no chat; nil for none that could answer now. It is one more user of it.
    func takeAny() -> ACPConnection? {
        let started = connections.filter { $0.hasStarted && !$0.waitsForPeople(besides: "") }
        // One that works on a prompt may do nothing else meanwhile.
        return (started.filter(\.isIdle) + started).first { $0.take() }
    }

    /// Ends the processes that nobody has used for longest, as far as their sessions can be taken up again.
    private mutating func endIdle() {
        let idle = connections.filter { $0.isIdle && $0.canMoveSessions }
        for connection in idle.prefix(max(connections.count + 1 - Self.most, 0)) {
            connection.retire()
            seats.removeAll { $0.connection === connection }
        }
    }

    /// Whether a process has ended without another one at work for its project.
    func isLast(_ connection: ACPConnection) -> Bool {
        guard let seat = seats.first(where: { $0.connection === connection }) else { return false }
        return !seats.contains {
            $0.project == seat.project && $0.connection !== connection && !$0.connection.takesNoMore
        }
    }
}
