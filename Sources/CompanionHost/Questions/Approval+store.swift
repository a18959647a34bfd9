import CompanionWire
import FoundationEssentials
import GRDB

extension Approval {
    private static let table = Table("agentQuestion")
    private static let listed = table.select(.allColumns(excluding: ["arguments", "form", "link"]))

    /// A question that is not asked yet.
    init(_ question: AgentQuestion) {
        let id = UUID().uuidString.lowercased()
        switch question {
        case .tool(let tool):
            self.init(
                id: id,
                title: tool.call.title,
                kind: tool.call.kind,
                arguments: tool.arguments,
                options: tool.options
            )
            // A tool cannot pass for a form by the name of its kind.
            if asksPerson { kind = "other" }
        case .form(let form):
            self.init(id: id, title: form.title, kind: form.kind, arguments: form.text, options: form.options)
            (self.form, link) = (form.form, form.link)
        }
    }

    /// A sentence about how it ended, for someone who answers too late.
    var ending: String {
        switch state {
        case .open: "The question is open"
        case .approved, .rejected: "\(decidedBy ?? "Someone") answered first: the question was \(state.rawValue)"
        case .expired: "The question expired: it was rejected"
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
                    (id, chat, turn, title, kind, arguments, options, form, link, askedAt, expiresAt, state, mode)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, chatId, turnId, title, kind, Data((arguments ?? "").utf8),
                try JSONEncoder().encode(options ?? []), try form.map { try JSONEncoder().encode($0) }, link,
                asked, expires, state.rawValue, mode?.name,
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
        try Self.table.filter(Column("id") == id).updateAll(
            database,
            Column("state").set(to: state.rawValue),
            Column("option").set(to: option),
            Column("decidedBy").set(to: person?.name),
            Column("decidedAt").set(to: CompanionTimestamp.string(from: now))
        )
        try AuditLog.append(
            .questionDecided,
            device: person?.device?.id,
            detail: [
                "question": .string(id), "chat": .string(chatId),
                // What a form asks for is the person's own.
                "tool": asksPerson ? .null : .string(title), "kind": .string(kind),
                "outcome": .string(state.rawValue), "option": .string(option ?? ""),
                "by": .string(person?.name ?? "nobody"),
            ],
            at: now,
            in: database
        )
    }

    /// A question with its full arguments; nil for an unknown one.
    static func find(_ id: String, in database: Database) throws -> Approval? {
        try table.filter(Column("id") == id).fetchOne(database).map { Approval($0) }
    }

    /// All open questions, the oldest first.
    static func open(in database: Database) throws -> [Approval] {
        try listed.filter(Column("state") == State.open.rawValue).order(Column("number")).fetchAll(database)
            .map { Approval($0) }
    }

    /// The newest of the others, the newest first.
    static func ended(limit: Int, in database: Database) throws -> [Approval] {
        try listed.filter(Column("state") != State.open.rawValue).order(Column("number").desc).limit(limit)
            .fetchAll(database).map { Approval($0) }
    }

    private init(_ row: Row) {
        let options = try? JSONDecoder().decode([ApprovalOption].self, from: row["options"] as Data)
        let askedAt = CompanionTimestamp.date(from: row["askedAt"]) ?? .distantPast
        let expiresAt = CompanionTimestamp.date(from: row["expiresAt"]) ?? .distantPast
        self.init(
            id: row["id"],
            chatId: row["chat"],
            turnId: row["turn"],
            title: row["title"],
            kind: row["kind"],
            arguments: (row["arguments"] as Data?).map { String(decoding: $0, as: UTF8.self) },
            options: options ?? [],
            askedAt: askedAt,
            expiresAt: expiresAt,
            state: State(ofHost: row["state"]) ?? .interrupted,
            option: row["option"],
            decidedBy: row["decidedBy"],
            decidedAt: (row["decidedAt"] as String?).flatMap(CompanionTimestamp.date(from:)),
            mode: (row["mode"] as String?).flatMap { AgentMode($0) }
        )
        form = (row["form"] as Data?).flatMap { try? JSONDecoder().decode(ApprovalForm.self, from: $0) }
        link = row["link"]
    }
}
