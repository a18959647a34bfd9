import CompanionWire
import FoundationEssentials
import GRDB

extension Approval {
    /// A sentence about how it ended, for someone who answers too late.
    var ending: String {
        switch state {
        case .open: "The question is open"
        case .approved, .rejected: "\(decidedBy ?? "Someone") was first: the question was \(state.rawValue)"
        case .expired: "The question's time was over: it was rejected"
        case .cancelled: "The turn ended before the question was answered"
        case .interrupted: "The host was restarted: the agent that asked is gone"
        default: "The question is \(state.rawValue)"
        }
    }

    func insert(in database: Database) throws {
        let asked = askedAt.map { CompanionTimestamp.string(from: $0) }
        let expires = expiresAt.map { CompanionTimestamp.string(from: $0) }
        try database.execute(
            sql: """
                INSERT INTO agentQuestion
                    (id, chat, turn, title, kind, arguments, options, askedAt, expiresAt, state, mode)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, chatId, turnId, title, kind, Data((arguments ?? "").utf8),
                try JSONEncoder().encode(options ?? []), asked, expires, state.rawValue, mode?.name,
            ]
        )
        try database.execute(
            sql:
                "DELETE FROM agentQuestion WHERE state <> 'open' AND number <= (SELECT max(number) FROM agentQuestion) - ?",
            arguments: [AgentQuestions.kept]
        )
    }

    /// Ends an open question, here and in the database, with its row in the audit.
    ///
    /// - Parameter person: nil where nobody answered it.
    mutating func end(
        as state: State,
        option: String?,
        by person: QuestionDecider?,
        at now: Date,
        in database: Database
    ) throws {
        (self.state, self.option, decidedBy, decidedAt) = (state, option, person?.name, now)
        try database.execute(
            sql: "UPDATE agentQuestion SET state = ?, option = ?, decidedBy = ?, decidedAt = ? WHERE id = ?",
            arguments: [state.rawValue, option, person?.name, CompanionTimestamp.string(from: now), id]
        )
        try AuditLog.append(
            .questionDecided,
            device: person?.device?.id,
            detail: [
                "question": .string(id), "chat": .string(chatId), "tool": .string(title), "kind": .string(kind),
                "outcome": .string(state.rawValue), "option": .string(option ?? ""),
                "by": .string(person?.name ?? "nobody"),
            ],
            at: now,
            in: database
        )
    }

    /// A question with its full arguments; nil for an unknown one.
    static func find(_ id: String, in database: Database) throws -> Approval? {
        try fetch(hasArguments: true, condition: "WHERE id = ?", arguments: [id], in: database).first
    }

    /// All open questions, the oldest first.
    static func open(in database: Database) throws -> [Approval] {
        try fetch(condition: "WHERE state = 'open' ORDER BY number", in: database)
    }

    /// The newest of the others, the newest first.
    static func ended(limit: Int, in database: Database) throws -> [Approval] {
        try fetch(condition: "WHERE state <> 'open' ORDER BY number DESC LIMIT ?", arguments: [limit], in: database)
    }

    private static func fetch(
        hasArguments: Bool = false,
        condition: String,
        arguments: StatementArguments = [],
        in database: Database
    ) throws -> [Approval] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT id, chat, turn, title, kind, \(hasArguments ? "arguments" : "NULL"), options, askedAt, expiresAt,
                    state, option, decidedBy, decidedAt, mode FROM agentQuestion \(condition)
                """,
            arguments: arguments
        ).map { Approval($0) }
    }

    private init(_ row: Row) {
        let options = try? JSONDecoder().decode([ApprovalOption].self, from: row[6] as Data)
        let askedAt = CompanionTimestamp.date(from: row[7]) ?? .distantPast
        let expiresAt = CompanionTimestamp.date(from: row[8]) ?? .distantPast
        self.init(
            id: row[0],
            chatId: row[1],
            turnId: row[2],
            title: row[3],
            kind: row[4],
            arguments: (row[5] as Data?).map { String(decoding: $0, as: UTF8.self) },
            options: options ?? [],
            askedAt: askedAt,
            expiresAt: expiresAt,
            state: State(ofHost: row[9]) ?? .interrupted,
            option: row[10],
            decidedBy: row[11],
            decidedAt: (row[12] as String?).flatMap(CompanionTimestamp.date(from:)),
            mode: (row[13] as String?).flatMap { AgentMode($0) }
        )
    }
}
