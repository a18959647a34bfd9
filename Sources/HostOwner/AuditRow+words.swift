import CompanionHost
package import CompanionWire
import FoundationEssentials

/// A row of the audit for people.
extension AuditRow {
    /// The kind in a word or two. Those of other versions are shown as they are.
    package var kindText: String {
        switch AuditKind(rawValue: kind) {
        case .paired: "paired"
        case .pairingFailed: "wrong code"
        case .pairingLocked: "digits locked"
        case .pairingUnlocked: "digits unlocked"
        case .permissionsChanged: "permissions"
        case .revoked: "revoked"
        case .reached: "reached"
        case .sessionRemoved: "worktree removed"
        case .questionDecided: "question"
        case .agentRefused: "agent refused"
        case .agentConfigured: "agent set"
        case .agentBoxed: "agent in a box"
        case .ruleAdded: "rule added"
        case .ruleRemoved: "rule removed"
        case .ruleIgnored: "rule ignored"
        default: kind
        }
    }

    /// Such as `QR code; from 192.168.1.7; may read, approve`.
    package var detailText: String {
        let parts: [String?] =
            switch AuditKind(rawValue: kind) {
            case .paired:
                [
                    method, source, text("version") == "1" ? "protocol 1" : nil,
                    rights(in: "permissions").map { "may \($0)" }, end,
                ]
            case .pairingFailed:
                [
                    method, source, text("triesLeft").map { "tries left: \($0)" },
                    text("unreportedTokens").map { "\($0) more not listed" },
                ]
            case .pairingLocked, .pairingUnlocked: [text("failures").map { "wrong codes in a row: \($0)" }]
            case .permissionsChanged:
                [
                    rights(in: "to").map { "may \($0)" }, rights(in: "from").map { "before: \($0)" },
                    detail["via"]?.array.map { rungs in
                        "via " + (rungs.isEmpty ? "any" : rungs.compactMap(\.string).joined(separator: ", "))
                    },
                ]
            case .reached:
                [
                    text("via").map { "via \($0)" }, text("relay"), text("received").map { "\($0) bytes received" },
                    text("sent").map { "\($0) sent" },
                ]
            case .revoked: [text("by").map { $0 == device ? "by itself" : "by \($0 == "host" ? "you" : $0)" }]
            case .sessionRemoved:
                [chat, text("branch").map { "branch \($0)" }, detail["forced"]?.bool == true ? "forced" : nil, ending]
            case .questionDecided:
                [
                    text("outcome").map { $0 + (person.map { " by \($0)" } ?? "") }, text("tool"), text("kind"),
                    text("option").map { "answer \($0)" },
                    chat, text("question").map { "question \($0.shortID)" },
                ]
            case .agentRefused: [text("command"), text("process").map { "process \($0)" }, source]
            case .agentConfigured:
                [text("setting").map { "\($0) \(text("value") ?? "")" }, chat]
            case .agentBoxed:
                [
                    detail["agents"]?.array.map { $0.compactMap(\.string).joined(separator: ", ") },
                    detail["network"]?.bool == false ? "no network" : nil,
                ]
            case .ruleAdded, .ruleRemoved, .ruleIgnored: [text("rule"), text("text")]
            default: members
            }
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    /// A text or number that is not empty.
    private func text(_ name: String) -> String? { detail[name]?.word.flatMap { $0.isEmpty ? nil : $0 } }

    private var method: String? {
        text("method").map { text in
            switch PairingMethod(rawValue: text) {
            case .code: "six digits"
            case .token: "QR code"
            default: text
            }
        }
    }

    /// The person, device or rule that answered a question.
    private var person: String? {
        text("by").flatMap { $0 == "nobody" ? nil : $0 == QuestionDecider.owner.name ? "you" : $0 }
    }

    private var source: String? { text("address").map { "from \($0)" } }

    private var chat: String? { text("chat").map { "chat \($0.shortID)" } }

    private var end: String? {
        text("expiresAt").map { text in
            "until " + (CompanionTimestamp.date(from: text).map { LocalTime.text($0) } ?? text)
        }
    }

    private var ending: String? { detail["endedAtStart"]?.bool == true ? "when the host started" : nil }

    private func rights(in name: String) -> String? {
        detail[name]?.array.map { $0.compactMap(\.string).map(CompanionPermission.init(rawValue:)).rights }
    }

    /// The members of a row whose kind this version does not know, as they are.
    private var members: [String?] {
        (detail.object ?? [:]).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { name, value in "\(name) \(value.word ?? String(decoding: value.json, as: UTF8.self))" }
    }
}
