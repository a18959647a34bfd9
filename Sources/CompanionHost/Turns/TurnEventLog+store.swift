import CompanionWire
import FoundationEssentials
import GRDB
import NIOCore

/// A turn as it is stored.
struct StoredTurn: HostRecord {
    static let databaseTableName = "turn"

    var id: String
    var chat: String
    var device: String
    /// A ``TurnState``.
    var state: String
    var startedAt: Date
    var endedAt: Date?
}

/// A frame of a turn's stream as it is stored.
private struct StoredFrame: HostRecord {
    static let databaseTableName = "turnEvent"

    var turn: String
    var number: Int
    var frame: Data
}

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
            try StoredTurn(
                id: feed.id,
                chat: feed.chatID,
                device: device,
                state: TurnState.waiting.rawValue,
                startedAt: time
            ).insert(database)
        case .frame(let frame):
            try StoredFrame(turn: feed.id, number: frame.number, frame: Data(frame.data.readableBytesView))
                .insert(database)
        case .mode(let mode, _): try AgentSessions.keep(mode: mode, ofChat: feed.chatID, in: database)
        case .end(let state, let time, let answer):
            if let answer {
                project = try CompanionHostStore.insert(answer.message, in: database)
                let usage = DeviceUsage.message(answer.message.text)
                try DeviceQuotas.add(usage, of: answer.device, at: time, in: database)
            }
            try end(feed.id, as: state, at: time, in: database)
        }
        return project
    }

    /// Notes that a turn runs, within the transaction that stores its prompt.
    static func run(_ turnID: String, in database: Database) throws {
        try StoredTurn.filter(key: turnID).updateAll(database, Column("state").set(to: TurnState.running.rawValue))
    }

    private static func end(_ turnID: String, as state: TurnState, at time: Date, in database: Database) throws {
        try StoredTurn.filter(key: turnID).updateAll(
            database,
            Column("state").set(to: state.rawValue),
            Column("endedAt").set(to: CompanionTimestamp.string(from: time))
        )
    }

    /// Ends the turns that no host works on any more with a last frame that says so. The parts of their answers that
    /// were shown go to the chats' histories.
    static func endInterrupted(at time: Date, in database: Database) throws {
        for turn in try StoredTurn.filter(Column("endedAt") == nil).fetchAll(database) {
            if turn.state == TurnState.running.rawValue { try keepAnswer(of: turn, at: time, in: database) }
            try cutOff(turn.id, as: .interrupted, text: interruptedText, at: time, in: database)
        }
    }

    /// Adds the text of a turn's frames to its chat. A turn ends together with its answer's message, so that one that
    /// has not ended has none yet.
    private static func keepAnswer(of turn: StoredTurn, at time: Date, in database: Database) throws {
        let text = try answer(of: turn.id, in: database)
        guard !text.isEmpty, let chat = try ChatRecord.fetchOne(database, key: ["id": turn.chat]) else { return }
        let message = MessageDraft(
            role: .assistant,
            text: text,
            chatID: chat.id,
            projectID: chat.project,
            title: chat.title,
            // The time of the prompt: when the last piece of the answer came is not stored.
            at: chat.updatedAt,
            isInterrupted: true
        )
        try CompanionHostStore.insert(message, in: database)
        try DeviceQuotas.add(.message(text), of: turn.device, at: time, in: database)
    }

    /// The text of a turn's frames.
    private static func answer(of turnID: String, in database: Database) throws -> String {
        let decoder = CompanionJSON.decoder()
        let frames = try StoredFrame.filter(Column("turn") == turnID).order(Column("number")).fetchCursor(database)
        var text = ""
        while let stored = try frames.next() {
            // `data: ` and a line of JSON.
            let frame = Data(stored.frame.dropFirst(6))
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
        let number = try lastNumber(turnID: turn, in: database) + 1
        try StoredFrame(turn: turn, number: number, frame: Data(frame.utf8)).insert(database)
        try end(turn, as: state, at: time, in: database)
    }

    static func turn(id: String, in database: Database) throws -> TurnSummary? {
        try StoredTurn.fetchOne(database, key: id).map { turn in
            TurnSummary(
                turnId: turn.id,
                chatId: turn.chat,
                state: TurnState(rawValue: turn.state) ?? .interrupted,
                startedAt: turn.startedAt,
                endedAt: turn.endedAt
            )
        }
    }

    static func lastNumber(turnID: String, in database: Database) throws -> Int {
        try StoredFrame.filter(Column("turn") == turnID).select(max(Column("number")), as: Int.self)
            .fetchOne(database) ?? 0
    }

    static func frames(turnID: String, after number: Int, in database: Database) throws -> [TurnFrame] {
        let stored = StoredFrame.filter(Column("turn") == turnID && Column("number") > number)
        let rows = try Row.fetchCursor(database, stored.order(Column("number")).limit(TurnReader.pageCount))
        var frames: [TurnFrame] = []
        var size = 0
        while let row = try rows.next() {
            let data = try row.withUnsafeData(named: "frame") { ByteBuffer(bytes: $0 ?? Data()) }
            size += data.readableBytes
            guard frames.isEmpty || size <= TurnReader.pageSize else { break }
            frames.append(TurnFrame(number: row["number"], data: data))
        }
        return frames
    }
}
