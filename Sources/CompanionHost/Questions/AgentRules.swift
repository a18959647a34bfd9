package import CompanionWire
import GRDB
import LocalState
import Logging
import NIOConcurrencyHelpers

/// Keeps the owner's rules, and answers questions of the agent by them.
package struct AgentRules: Sendable {
    /// Rules that can be kept.
    static let maximum = 1000

    let database: HostDatabase
    let clock: HostClock
    let events: HostEventSink
    let logger: Logger
    /// The faults that have been reported since the host started.
    private let reported = NIOLockedValueBox<Set<AgentRuleBook.Fault>>([])

    init(database: HostDatabase, clock: HostClock, events: HostEventSink, logger: Logger) {
        self.database = database
        self.clock = clock
        self.events = events
        self.logger = logger
    }

    /// Reads the owner's rules, and reports those that differ from the audit.
    func book() async throws -> AgentRuleBook {
        let book = try await database.read { try AgentRuleBook($0) }
        let new = reported.withLockedValue { reported in book.faults.filter { reported.insert($0).inserted } }
        for fault in new { try await report(fault) }
        return book
    }

    /// Tells the owner of a rule that was changed behind their back.
    private func report(_ fault: AgentRuleBook.Fault) async throws {
        logger.error(
            "rule",
            metadata: .event("host", outcome: "refused", ["rule": "\(fault.rule)", "reason": "\(fault.text)"])
        )
        events.send(.agent(message: fault.text, lines: [], log: nil))
        let now = clock.now()
        try await database.write(durably: true) { database in
            let detail: JSONValue = ["rule": .integer(fault.rule), "text": .string(fault.text)]
            try AuditLog.append(.ruleIgnored, device: nil, detail: detail, at: now, in: database)
        }
    }

    /// Adds a rule.
    ///
    /// - Parameter project: The project's id, name or path; nil for all.
    /// - Returns: The rule with its id, and with its project.
    /// - Throws: ``HostError`` with `request.invalid` for a rule with a fault, for a project that is unknown or shares
    ///   its name with another, and for one rule too many; ``CompanionHostError``.
    package func add(_ rule: AgentRule, project: String?) async throws -> AgentRule {
        if let fault = rule.fault { throw HostError(.requestInvalid, fault) }
        let now = clock.now()
        return try await database.writeChecked(durably: true) { database -> AgentRule in
            var rule = rule
            (rule.projectId, rule.projectName) = (nil, nil)
            if let project { (rule.projectId, rule.projectName) = try Self.project(project, in: database) }
            let count = try Table("agentRule").fetchCount(database)
            guard count < Self.maximum else {
                throw HostError(.requestInvalid, "There are \(count) rules already: remove some first.")
            }
            try database.execute(
                sql: "INSERT INTO agentRule (project, effect, kind, command, path) VALUES (?, ?, ?, ?, ?)",
                arguments: [rule.projectId, rule.effect.rawValue, rule.kind, rule.command, rule.path]
            )
            rule.id = database.lastInsertedRowID
            try AuditLog.append(.ruleAdded, device: nil, detail: rule.detail, at: now, in: database)
            return rule
        }
    }

    /// Removes a rule.
    ///
    /// - Returns: The rule; nil if there is none with this id.
    /// - Throws: ``CompanionHostError`` if it cannot be stored; the rule still counts then.
    package func remove(_ id: Int64) async throws -> AgentRule? {
        let now = clock.now()
        return try await database.write(durably: true) { database -> AgentRule? in
            // Also one that the audit does not have, or that only the audit has.
            let book = try AgentRuleBook(database)
            guard let rule = book.rules.first(where: { $0.id == id }) ?? book.ignored.first(where: { $0.id == id })
            else {
                return nil
            }
            try Table("agentRule").deleteOne(database, key: id)
            try AuditLog.append(.ruleRemoved, device: nil, detail: rule.detail, at: now, in: database)
            return rule
        }
    }

    /// Answers a question by the rules of its chat's project.
    ///
    /// - Returns: nil where a person has to be asked, also where the rules cannot be read.
    @Sendable func answer(
        _ asked: ProposedTool,
        turn: AgentTurn,
        emit: @Sendable (TurnEvent) -> Void
    ) async -> ApprovalAnswer? {
        do {
            let all = try await book().rules
            guard !all.isEmpty else { return nil }
            let project = try await database.read { try ChatRecord.fetchOne($0, key: ["id": turn.chatID])?.project }
            let rules = all.filter { rule in rule.projectId.map { project?.isSame(as: $0) == true } ?? true }
            let use = ToolUse(asked, directory: turn.directory, project: turn.project)
            guard let rule = try await BlockingCall.run({ AgentRule.deciding(rules, on: use) }) else { return nil }
            guard let decision = rule.decision(on: asked) else { return nil }
            try await note(rule, asked: asked, in: turn)
            let word = rule.effect == .allow ? "allowed" : "refused"
            emit(.status("A rule of the host \(word) it: \(asked.call.title)"))
            return decision
        } catch {
            logger.error("rules not used", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
            return nil
        }
    }

    private func note(_ rule: AgentRule, asked: ProposedTool, in turn: AgentTurn) async throws {
        let now = clock.now()
        try await database.write(durably: true) { database in
            try AuditLog.append(
                .questionDecided,
                device: nil,
                detail: [
                    "chat": .string(turn.chatID), "tool": .string(asked.call.title), "kind": .string(asked.call.kind),
                    "outcome": .string(rule.effect == .allow ? "approved" : "rejected"),
                    "by": .string("Rule \(rule.id)"),
                ],
                at: now,
                in: database
            )
        }
    }

    private static func project(_ word: String, in database: Database) throws -> (id: String, name: String) {
        for column in ["id", "path", "name"] {
            let found = try Table("project").filter(Column(column) == word).fetchAll(database)
            if found.count > 1 {
                throw HostError(.requestInvalid, "Several projects have the name “\(word)”: give the path.")
            }
            if let project = found.first { return (project["id"], project["name"]) }
        }
        throw HostError(.requestInvalid, "The host has no project “\(word)”.")
    }
}

extension AgentRule {
    /// The answer that it gives: never one that goes for more than this question.
    fileprivate func decision(on asked: ProposedTool) -> ApprovalAnswer? {
        switch effect {
        case .allow: asked.options.first { $0.kind == .allowOnce }.map { ApprovalAnswer.option($0.id) }
        case .deny: asked.rejection
        case .ask: nil
        }
    }
}
