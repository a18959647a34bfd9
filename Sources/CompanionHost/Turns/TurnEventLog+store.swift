import CompanionWire
import FoundationEssentials
import GRDB
import NIOCore

extension TurnEventLog {
    /// Stores the changes of one turn, all or none. A failure ends that turn alone: it is noted in `part`, and the turn
    /// gets a last frame that says so, if the database takes that.
    ///
    /// - Throws: An error that has ended the whole transaction.
    static func write(_ part: inout Part, at time: Date, in database: Database) throws {
        let (feed, changes) = (part.feed, part.changes)
        do {
            var project: String?
            try database.inSavepoint {
                for change in changes { project = try write(change, of: feed, in: database) ?? project }
                return .commit
            }
            part.project = project
        } catch {
            // A full disk, for one, ends the transaction itself.
            guard database.isInsideTransaction else { throw error }
            part.failure = CompanionHostError(
                .notStored,
                "The turn cannot be stored.",
                underlying: error
            )
            try? database.inSavepoint {
                if try turn(id: feed.id, in: database) != nil {
                    try cutOff(feed.id, as: .failed, text: notStoredText, at: time, in: database)
                }
                return .commit
            }
        }
    }

    /// - Returns: The project of the chat that has got an answer.
    private static func write(_ change: Change, of feed: TurnFeed, in database: Database) throws -> String? {
        var project: String?
        switch change {
        case .open(let device, let time):
            try database.execute(
                sql: "INSERT INTO turn (id, chat, device, state, startedAt) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    feed.id, feed.chatID, device, TurnState.waiting.rawValue, CompanionTimestamp.string(from: time),
                ]
            )
        case .frame(let frame):
            let statement = try database.cachedStatement(
                sql: "INSERT INTO turnEvent (turn, number, frame) VALUES (?, ?, ?)"
            )
            try statement.execute(arguments: [feed.id, frame.number, Data(frame.data.readableBytesView)])
        case .mode(let mode, _): try AgentSessions.keep(mode: mode, ofChat: feed.chatID, in: database)
        case .end(let state, let time, let answer):
            if let answer {
                project = try CompanionHostStore.insert(answer.message, in: database)
                let usage = DeviceUsage.message(answer.message.text)
                try DeviceQuotas.add(usage, of: answer.device, at: time, in: database)
            }
            try database.execute(
                sql: "UPDATE turn SET state = ?, endedAt = ? WHERE id = ?",
                arguments: [state.rawValue, CompanionTimestamp.string(from: time), feed.id]
            )
        }
        return project
    }

    /// Notes that a turn runs, within the transaction that stores its prompt.
    static func run(_ turnID: String, in database: Database) throws {
        try database.execute(
            sql: "UPDATE turn SET state = ? WHERE id = ?",
            arguments: [TurnState.running.rawValue, turnID]
        )
    }

    /// Ends the turns that no host works on any more with a last frame that says so. The parts of their answers that
    /// were shown go to the chats' histories.
    static func endInterrupted(at time: Date, in database: Database) throws {
        let turns = try Row.fetchAll(database, sql: "SELECT id, chat, device, state FROM turn WHERE endedAt IS NULL")
        for turn in turns {
            let id: String = turn[0]
            if turn[3] as String == TurnState.running.rawValue {
                try keepAnswer(of: id, chatID: turn[1], device: turn[2], at: time, in: database)
            }
            try cutOff(id, as: .interrupted, text: interruptedText, at: time, in: database)
        }
    }

    /// Adds the text of a turn's frames to its chat. A turn ends together with its answer's message, so that one that
    /// has not ended has none yet.
    private static func keepAnswer(
        of turnID: String,
        chatID: String,
        device: String,
        at time: Date,
        in database: Database
    ) throws {
        let text = try answer(of: turnID, in: database)
        let chat = try Row.fetchOne(
            database,
            sql: "SELECT project, title, updatedAt FROM chat WHERE id = ?",
            arguments: [chatID]
        )
        guard !text.isEmpty, let chat else { return }
        let message = MessageDraft(
            role: .assistant,
            text: text,
            chatID: chatID,
            projectID: chat[0],
            title: chat[1],
            // The time of the prompt: when the last piece of the answer came is not stored.
            at: CompanionTimestamp.date(from: chat[2]) ?? time,
            isInterrupted: true
        )
        try CompanionHostStore.insert(message, in: database)
        try DeviceQuotas.add(.message(text), of: device, at: time, in: database)
    }

    /// The text of a turn's frames.
    private static func answer(of turnID: String, in database: Database) throws -> String {
        let decoder = CompanionJSON.decoder()
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT frame FROM turnEvent WHERE turn = ? ORDER BY number",
            arguments: [turnID]
        )
        var text = ""
        while let row = try rows.next() {
            // `data: ` and a line of JSON.
            let frame = Data((row[0] as Data).dropFirst(6))
            guard case .text(let piece)? = try? decoder.decode(TurnEvent.self, from: frame) else { continue }
            text += piece
        }
        return text
    }

    /// Ends a turn with an error as its last frame.
    private static func cutOff(
        _ turn: String,
        as state: TurnState,
        text: String,
        at time: Date,
        in database: Database
    ) throws {
        let frame = TurnFrames.encode(.failed(TurnFailure(text)))
        try database.execute(
            sql: "INSERT INTO turnEvent (turn, number, frame) VALUES (?, ?, ?)",
            arguments: [turn, try lastNumber(turnID: turn, in: database) + 1, Data(frame.utf8)]
        )
        try database.execute(
            sql: "UPDATE turn SET state = ?, endedAt = ? WHERE id = ?",
            arguments: [state.rawValue, CompanionTimestamp.string(from: time), turn]
        )
    }

    static func turn(id: String, in database: Database) throws -> TurnSummary? {
        let statement = try database.cachedStatement(
            sql: "SELECT id, chat, state, startedAt, endedAt FROM turn WHERE id = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
        return TurnSummary(
            turnId: row[0],
            chatId: row[1],
            state: TurnState(rawValue: row[2]) ?? .interrupted,
            startedAt: CompanionTimestamp.date(from: row[3]) ?? .distantPast,
            endedAt: (row[4] as String?).flatMap(CompanionTimestamp.date(from:))
        )
    }

    static func lastNumber(turnID: String, in database: Database) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT max(number) FROM turnEvent WHERE turn = ?"),
            arguments: [turnID]
        ) ?? 0
    }

    static func frames(turnID: String, after number: Int, in database: Database) throws -> [TurnFrame] {
        let statement = try database.cachedStatement(
            sql: "SELECT number, frame FROM turnEvent WHERE turn = ? AND number > ? ORDER BY number LIMIT ?"
        )
        let rows = try Row.fetchCursor(statement, arguments: [turnID, number, TurnReader.pageCount])
        var frames: [TurnFrame] = []
        var size = 0
        while let row = try rows.next() {
            let data = try row.withUnsafeData(atIndex: 1) { ByteBuffer(bytes: $0 ?? Data()) }
            size += data.readableBytes
            guard frames.isEmpty || size <= TurnReader.pageSize else { break }
            frames.append(TurnFrame(number: row[0], data: data))
        }
        return frames
    }
}
