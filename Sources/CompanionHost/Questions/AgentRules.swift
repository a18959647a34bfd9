import CompanionWire
import GRDB
import LocalState
import Logging

/// Keeps the owner's rules, and answers questions of the agent by them.
package struct AgentRules: Sendable {
    /// Rules that can be kept.
    static let maximum = 1000

    let database: HostDatabase
    let clock: HostClock
    let logger: Logger

    /// All rules, the oldest first.
    package func list() async throws -> [AgentRule] {
        try await database.read { try Self.fetch("1", [], in: $0) }
    }

    /// Adds a rule.
    ///
    /// - Parameter project: The project's id, name or path; nil for all.
    /// - Throws: ``HostError``: `request.invalid`.
    package func add(_ rule: AgentRule, project: String?) async throws -> AgentRule {
        if let fault = rule.fault { throw HostError(.requestInvalid, fault) }
        let now = clock.now()
        return try await database.writeChecked(durably: true) { database -> AgentRule in
            var rule = rule
            (rule.projectId, rule.projectName) = (nil, nil)
            if let project { (rule.projectId, rule.projectName) = try Self.project(project, in: database) }
            let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM agentRule") ?? 0
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
    package func remove(_ id: Int64) async throws -> AgentRule? {
        let now = clock.now()
        return try await database.write(durably: true) { database -> AgentRule? in
            guard let rule = try Self.fetch("number = ?", [id], in: database).first else { return nil }
            try database.execute(sql: "DELETE FROM agentRule WHERE number = ?", arguments: [id])
            try AuditLog.append(.ruleRemoved, device: nil, detail: rule.detail, at: now, in: database)
            return rule
        }
    }

    /// Answers a question by the rules of its chat's project.
    ///
    /// - Returns: nil where a person has to be asked, also where the rules cannot be read.
    @Sendable func answer(
        _ asked: AgentQuestion,
        turn: AgentTurn,
        emit: @Sendable (AgentEvent) -> Void
    ) async -> AgentDecision? {
        do {
            let rules = try await database.read { database in
                try Self.fetch(
                    "project IS NULL OR project = (SELECT project FROM chat WHERE id = ?)",
                    [turn.chatID],
                    in: database
                )
            }
            guard !rules.isEmpty else { return nil }
            let use = ToolUse(asked, directory: turn.directory, project: turn.project)
            guard let rule = try await BlockingCall.run({ AgentRule.deciding(rules, use) }) else { return nil }
            guard let decision = rule.decision(on: asked) else { return nil }
            try await note(rule, asked, turn)
            let word = rule.effect == .allow ? "allowed" : "refused"
            emit(.status("A rule of the host \(word) it: \(asked.call.title)"))
            return decision
        } catch {
            logger.error("rules not used", metadata: .failure(error, ["chat": "\(turn.chatID)"]))
            return nil
        }
    }

    private func note(_ rule: AgentRule, _ asked: AgentQuestion, _ turn: AgentTurn) async throws {
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
            let found = try Row.fetchAll(
                database,
                sql: "SELECT id, name FROM project WHERE \(column) = ?",
                arguments: [word]
            )
            if found.count > 1 {
                throw HostError(.requestInvalid, "Several projects have the name “\(word)”: give the path.")
            }
            if let project = found.first { return (project[0], project[1]) }
        }
        throw HostError(.requestInvalid, "The host has no project “\(word)”.")
    }

    private static func fetch(
        _ condition: String,
        _ arguments: StatementArguments,
        in database: Database
    ) throws -> [AgentRule] {
        try Row.fetchAll(
            database,
            sql:
                """
                SELECT number, effect, project, kind, command, path,
                    (SELECT name FROM project WHERE id = agentRule.project)
                FROM agentRule WHERE \(condition) ORDER BY number
                """,
            arguments: arguments
        ).map { row in
            // What a later version knows more is asked about.
            var rule = AgentRule(
                id: row[0],
                effect: AgentRule.Effect(rawValue: row[1]) ?? .ask,
                projectId: row[2],
                kind: row[3],
                command: row[4],
                path: row[5]
            )
            rule.projectName = row[6]
            return rule
        }
    }
}

extension AgentRule {
    /// The answer that it gives: never one that goes for more than this question.
    fileprivate func decision(on asked: AgentQuestion) -> AgentDecision? {
        switch effect {
        case .allow: asked.options.first { $0.kind == .allowOnce }.map { .option($0.id) }
        case .deny: asked.rejection
        case .ask: nil
        }
    }

    fileprivate var detail: JSONValue {
        ["rule": .integer(id), "text": .string(text), "project": .string(projectId ?? "")]
    }
}
