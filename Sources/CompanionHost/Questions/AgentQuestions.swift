import CompanionWire
import FoundationEssentials
import GRDB
import Logging
import NIOConcurrencyHelpers

/// Keeps the agent's questions until a person answers them. Each is stored before it is asked, answered once, and
/// answered with no when its time is over.
package final class AgentQuestions: Sendable {
    /// Questions that are kept once they are answered.
    static let kept = 1000

    private let database: HostDatabase
    private let clock: HostClock
    private let timeout: TimeInterval
    private let events: HostEventSink
    private let logger: Logger
    /// Who waits for an answer.
    private let waiting = NIOLockedValueBox<[String: AsyncStream<HostQuestion>.Continuation]>([:])

    /// Ends the questions that an earlier host left open: the agent that asked is gone.
    init(
        database: HostDatabase,
        clock: HostClock,
        timeout: Duration,
        events: HostEventSink,
        logger: Logger
    ) throws(CompanionHostError) {
        self.database = database
        self.clock = clock
        self.timeout = timeout / .seconds(1)
        self.events = events
        self.logger = logger
        let now = CompanionTimestamp.string(from: clock.now())
        let open = try database.writeBlocking { database -> [HostQuestion] in
            let open = try HostQuestion.fetch("state = 'open'", in: database)
            try database.execute(
                sql: "UPDATE agentQuestion SET state = 'interrupted', decidedAt = ? WHERE state = 'open'",
                arguments: [now]
            )
            return open
        }
        for question in open {
            events.send(
                .questionEnded(
                    id: question.id,
                    chatID: question.chatId,
                    outcome: HostQuestion.State.interrupted.rawValue,
                    by: nil
                )
            )
        }
    }

    /// Asks, and waits for the answer, for the end of its time, or for the end of the turn.
    func ask(_ asked: AgentQuestion, turn: AgentTurn) async -> (decision: AgentDecision, question: HostQuestion?) {
        let now = clock.now()
        let question = HostQuestion(
            id: UUID().uuidString.lowercased(),
            chatId: turn.chatID,
            turnId: turn.id,
            title: asked.call.title,
            kind: asked.call.kind,
            arguments: asked.arguments,
            options: asked.options,
            askedAt: now,
            expiresAt: now.addingTimeInterval(timeout),
            state: .open
        )
        let (answers, answer) = AsyncStream.makeStream(of: HostQuestion.self, bufferingPolicy: .bufferingOldest(1))
        waiting.withLockedValue { $0[question.id] = answer }
        defer { waiting.withLockedValue { _ = $0.removeValue(forKey: question.id) } }
        do {
            try await database.write(durably: true) { database in try question.insert(in: database) }
        } catch {
            logger.error("question not stored", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
            return (asked.rejection, nil)
        }
        events.send(
            .questionAsked(
                id: question.id,
                chatID: question.chatId,
                title: question.title,
                expiresAt: question.expiresAt
            )
        )
        let decided = await withTaskGroup(of: HostQuestion?.self) { group in
            group.addTask {
                for await answered in answers { return answered }
                return nil
            }
            group.addTask { [clock] in
                try? await clock.sleepUntil(question.expiresAt)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let decided { return (Self.decision(decided, asked), decided) }
        // An answer may have come at this very moment: what is stored counts.
        let state: HostQuestion.State = Task.isCancelled ? .cancelled : .expired
        let ended = await end(question.id, as: state)
        return (ended.map { Self.decision($0, asked) } ?? asked.rejection, ended)
    }

    /// Asks for a turn, whose readers are told what it waits for and what came of it.
    @Sendable func ask(
        _ asked: AgentQuestion,
        turn: AgentTurn,
        emit: @Sendable (AgentEvent) -> Void
    ) async -> AgentDecision {
        emit(.status("The host's owner is asked: \(asked.call.title)"))
        let (decision, question) = await ask(asked, turn: turn)
        let name = asked.options.first { .option($0.id) == decision }?.name
        switch question?.state {
        case .approved?: emit(.status("The owner said “\(name ?? "yes")”"))
        case .rejected?: emit(.status("The owner said “\(name ?? "no")”"))
        case .expired?: emit(.status("Nobody answered within \(Int(timeout / 60)) min: rejected"))
        case .cancelled?: break
        case nil, .open?, .interrupted?: emit(.status("The question could not be stored: rejected"))
        }
        return decision
    }

    private static func decision(_ question: HostQuestion, _ asked: AgentQuestion) -> AgentDecision {
        switch question.state {
        case .approved, .rejected:
            asked.options.first { $0.id.isSame(as: question.option ?? "") }.map { .option($0.id) } ?? asked.rejection
        case .cancelled: .cancelled
        case .open, .expired, .interrupted: asked.rejection
        }
    }

    /// Ends a question that nobody has answered.
    ///
    /// - Returns: The question as it is now; nil when that cannot be stored.
    private func end(_ id: String, as state: HostQuestion.State) async -> HostQuestion? {
        let now = clock.now()
        do {
            let (question, isOurs) = try await database.write(durably: true) { database -> (HostQuestion?, Bool) in
                let isOurs = try HostQuestion.decide(id, state, option: nil, by: nil, at: now, in: database)
                return (try HostQuestion.fetch("id = ?", [id], in: database).first, isOurs)
            }
            if let question, isOurs { tell(question) }
            return question
        } catch {
            logger.error("end of a question not stored", metadata: .failure(error))
            return nil
        }
    }

    private func tell(_ question: HostQuestion) {
        events.send(
            .questionEnded(
                id: question.id,
                chatID: question.chatId,
                outcome: question.state.rawValue,
                by: question.decidedBy
            )
        )
    }

    /// Answers a question.
    ///
    /// - Parameters:
    ///   - approve: Whether the agent may do it.
    ///   - always: Whether that goes for all later ones of its kind, where the agent offers that.
    ///   - person: Who answers, for the audit and for whoever is second.
    /// - Throws: ``HostError``: `approval.unknown`; `approval.decided` with who was first; `request.invalid` for an answer
    ///   that the agent does not offer.
    package func decide(_ id: String, approve: Bool, always: Bool, by person: String) async throws -> HostQuestion {
        let now = clock.now()
        let decided = try await database.writeChecked(durably: true) { database -> HostQuestion in
            guard let question = try HostQuestion.fetch("id = ?", [id], in: database).first else {
                throw HostError(.approvalUnknown, "The host knows no such question")
            }
            guard question.state == .open else { throw HostError(.approvalDecided, question.ending) }
            let kind: AgentOption.Kind =
                approve ? (always ? .allowAlways : .allowOnce) : (always ? .rejectAlways : .rejectOnce)
            guard let option = question.options.first(where: { $0.kind == kind }) else {
                let offered = question.options.map(\.name).joined(separator: ", ")
                throw HostError(.requestInvalid, "The agent does not offer this answer. It offers: \(offered)")
            }
            let state: HostQuestion.State = approve ? .approved : .rejected
            guard try HostQuestion.decide(id, state, option: option.id, by: person, at: now, in: database),
                let decided = try HostQuestion.fetch("id = ?", [id], in: database).first
            else { throw HostError(.approvalDecided, question.ending) }
            return decided
        }
        // Before anything else: it is stored, so the agent gets it whatever becomes of who asked for it.
        waiting.withLockedValue { $0[id] }?.yield(decided)
        tell(decided)
        return decided
    }

    /// The newest questions, the oldest of them first.
    ///
    /// - Parameter all: Whether those that were answered are listed as well.
    package func list(all: Bool) async throws -> [HostQuestion] {
        try await database.read { database in
            try HostQuestion.fetch(all ? "1" : "state = 'open'", in: database).map { question in
                var question = question
                question.arguments = nil
                return question
            }
        }
    }

    /// A question with all that it is about.
    package func question(id: String) async throws -> HostQuestion? {
        try await database.read { try HostQuestion.fetch("id = ?", [id], in: $0).first }
    }
}

extension HostQuestion {
    /// What became of it, for who comes too late.
    var ending: String {
        switch state {
        case .open: "The question is open"
        case .approved, .rejected: "\(decidedBy ?? "Someone") was first: the question was \(state.rawValue)"
        case .expired: "The question's time was over: it was rejected"
        case .cancelled: "The turn ended before the question was answered"
        case .interrupted: "The host was restarted: the agent that asked is gone"
        }
    }

    fileprivate func insert(in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO agentQuestion (id, chat, turn, title, kind, arguments, options, askedAt, expiresAt, state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, chatId, turnId, title, kind, Data((arguments ?? "").utf8), try JSONEncoder().encode(options),
                CompanionTimestamp.string(from: askedAt), CompanionTimestamp.string(from: expiresAt), state.rawValue,
            ]
        )
        try database.execute(
            sql:
                "DELETE FROM agentQuestion WHERE state <> 'open' AND number <= (SELECT max(number) FROM agentQuestion) - ?",
            arguments: [AgentQuestions.kept]
        )
    }

    /// - Returns: Whether it was open.
    fileprivate static func decide(
        _ id: String,
        _ state: State,
        option: String?,
        by person: String?,
        at now: Date,
        in database: Database
    ) throws -> Bool {
        let time = CompanionTimestamp.string(from: now)
        try database.execute(
            sql: """
                UPDATE agentQuestion SET state = ?, option = ?, decidedBy = ?, decidedAt = ?
                WHERE id = ? AND state = 'open'
                """,
            arguments: [state.rawValue, option, person, time, id]
        )
        guard database.changesCount == 1 else { return false }
        guard let question = try fetch("id = ?", [id], in: database).first else { return false }
        try AuditLog.append(
            .questionDecided,
            device: nil,
            detail: [
                "question": .string(id), "chat": .string(question.chatId), "tool": .string(question.title),
                "kind": .string(question.kind), "outcome": .string(state.rawValue), "option": .string(option ?? ""),
                "by": .string(person ?? "nobody"),
            ],
            at: now,
            in: database
        )
        return true
    }

    /// At most the newest hundred, the oldest of them first.
    fileprivate static func fetch(
        _ condition: String,
        _ arguments: StatementArguments = [],
        in database: Database
    ) throws -> [HostQuestion] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT id, chat, turn, title, kind, arguments, options, askedAt, expiresAt, state, option, decidedBy,
                    decidedAt FROM agentQuestion WHERE \(condition) ORDER BY number DESC LIMIT 100
                """,
            arguments: arguments
        ).reversed().map { row in
            let options = (try? JSONDecoder().decode([AgentOption].self, from: row[6] as Data)) ?? []
            return HostQuestion(
                id: row[0],
                chatId: row[1],
                turnId: row[2],
                title: row[3],
                kind: row[4],
                arguments: String(decoding: row[5] as Data, as: UTF8.self),
                options: options,
                askedAt: CompanionTimestamp.date(from: row[7]) ?? .distantPast,
                expiresAt: CompanionTimestamp.date(from: row[8]) ?? .distantPast,
                state: State(rawValue: row[9]) ?? .interrupted,
                option: row[10],
                decidedBy: row[11],
                decidedAt: (row[12] as String?).flatMap(CompanionTimestamp.date(from:))
            )
        }
    }
}
