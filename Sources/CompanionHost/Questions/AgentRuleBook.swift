import CompanionWire
import GRDB

/// The owner's rules. The audit decides which rules count: a rule gets into it over the admin socket alone, whereas an
/// agent has the rights of its user, and could change the table of rules itself.
struct AgentRuleBook: Sendable {
    /// A rule of the table, or one that is missing there, which the audit contradicts.
    struct Fault: Sendable, Hashable {
        var rule: Int64
        /// A message for people: what happened, and how to fix it.
        var text: String
    }

    /// The rules that count, the oldest first.
    private(set) var rules: [AgentRule] = []
    /// The rules of the table that do not count.
    private(set) var ignored: [AgentRule] = []
    private(set) var faults: [Fault] = []

    init(_ database: Database) throws {
        var added = try Self.added(in: database)
        for stored in try Self.stored(in: database) {
            guard let row = added.removeValue(forKey: stored.id) else {
                ignored.append(stored)
                faults.append(Self.fault(stored, text: "is not used, because the audit does not say that you added it"))
                continue
            }
            if stored.isSame(as: row) {
                rules.append(stored)
            } else if let original = try AgentRule(row, in: database) {
                rules.append(original)
                faults.append(
                    Self.fault(original, text: "was changed in the host's database, but still applies as you added it")
                )
            } else {
                ignored.append(stored)
                faults.append(Self.fault(stored, text: "is not used, because it is not the one that you added"))
            }
        }
        for row in added.values {
            guard let original = try AgentRule(row, in: database) else { continue }
            rules.append(original)
            faults.append(Self.fault(original, text: "was deleted from the host's database, but still applies"))
        }
        rules.sort { $0.id < $1.id }
    }

    private static func fault(_ rule: AgentRule, text: String) -> Fault {
        Fault(
            rule: rule.id,
            text: "Rule \(rule.id) (\(rule.text)) \(text). To remove it: pairtool host rules remove \(rule.id)"
        )
    }

    /// The audit's record of each rule that was added and not removed, by the rule's id.
    private static func added(in database: Database) throws -> [Int64: JSONValue] {
        let rows = try Row.fetchCursor(
            database,
            // With the kinds written out: the index is used for nothing else.
            sql: "SELECT kind, detail FROM audit WHERE kind IN ('rule.added', 'rule.removed') ORDER BY number"
        )
        var added: [Int64: JSONValue] = [:]
        while let row = try rows.next() {
            guard let detail = try? CanonicalJSON(parsing: Array((row["detail"] as String).utf8)).value,
                let id = detail["rule"]?.integer
            else { continue }
            added[id] = AuditKind(rawValue: row["kind"]) == .ruleAdded ? detail : nil
        }
        return added
    }

    /// The table, the oldest first.
    private static func stored(in database: Database) throws -> [AgentRule] {
        try Table("agentRule").order(Column("number")).fetchAll(database).map { row in
            // What a later version knows more is asked about.
            try AgentRule(
                id: row["number"],
                effect: AgentRule.Effect(rawValue: row["effect"]) ?? .ask,
                projectId: row["project"],
                kind: row["kind"],
                command: row["command"],
                path: row["path"]
            ).named(in: database)
        }
    }
}

extension AgentRule {
    /// The rule as a row of the audit records it.
    var detail: JSONValue {
        var detail: [String: JSONValue] = [
            "rule": .integer(id), "text": .string(text), "project": .string(projectId ?? ""),
            "effect": .string(effect.rawValue),
        ]
        for (name, value) in [("kind", kind), ("command", command), ("path", path)] {
            if let value { detail[name] = .string(value) }
        }
        return .object(detail)
    }

    /// The rule that a row of the audit is about; nil where the row has no more than its text, as those of earlier
    /// versions.
    fileprivate init?(_ row: JSONValue, in database: Database) throws {
        guard let id = row["rule"]?.integer, let effect = row["effect"]?.string.flatMap(Effect.init(rawValue:)) else {
            return nil
        }
        let project = row["project"]?.string ?? ""
        self = try AgentRule(
            id: id,
            effect: effect,
            projectId: project.isEmpty ? nil : project,
            kind: row["kind"]?.string,
            command: row["command"]?.string,
            path: row["path"]?.string
        ).named(in: database)
    }

    /// Whether a row of the audit is about this rule. Two rules that can be kept never have the same text.
    fileprivate func isSame(as row: JSONValue) -> Bool {
        fault == nil && row["text"]?.string?.isSame(as: text) == true
            && row["project"]?.string?.isSame(as: projectId ?? "") == true
    }

    fileprivate func named(in database: Database) throws -> AgentRule {
        var rule = self
        rule.projectName = try projectId.flatMap {
            try Table("project").filter(key: $0).select(Column("name"), as: String.self).fetchOne(database)
        }
        return rule
    }
}
