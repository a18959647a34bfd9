import CompanionClient
import CompanionWire
import FoundationEssentials

/// An approval request in JSON.
struct ApprovalRow: Encodable {
    var id: String
    var action: String
    var kind: String?
    var reason: String?
    var requestedBy: String?
    var requestedAt: Date?
    var expiresAt: Date?
    var resolvedAt: Date?
    var status: String
    var details: [String: String]?
    var arguments: String?
    var options: [AgentOption]?
    /// The id of the option that was chosen.
    var option: String?
    var decidedBy: String?
    var chatId: String?
    var turnId: String?
    /// The agent's mode when it asked.
    var mode: AgentMode?
    /// When the agent went on after the decision.
    var continuedAt: Date?
    /// Where it was read from.
    var daemon: String

    init(_ approval: Approval, at place: String) {
        id = approval.id
        action = approval.action
        kind = approval.kind.isEmpty ? nil : approval.kind
        reason = approval.reason
        requestedBy = approval.requestedBy
        requestedAt = approval.requestedAt
        expiresAt = approval.expiresAt
        resolvedAt = approval.resolvedAt
        status = approval.status
        details = approval.details
        arguments = approval.arguments
        options = approval.options
        option = approval.option
        decidedBy = approval.decidedBy
        chatId = approval.chatID
        turnId = approval.turnID
        mode = approval.mode
        continuedAt = approval.continuedAt
        daemon = place
    }

    /// All fields, one per line. Long texts are shortened so that they cannot push the other lines off the screen, and a
    /// line says where they are in full; what a tool would do follows in full.
    func text(now: Date) -> String {
        var lines = [("id", id), ("action", action)]
        if let kind { lines.append(("kind", kind)) }
        if let reason, !reason.isEmpty { lines.append(("reason", reason)) }
        if let requestedBy, !requestedBy.isEmpty { lines.append(("by", requestedBy)) }
        if let requestedAt {
            lines.append(
                ("asked", "\(CompanionTimestamp.string(from: requestedAt)) (\(TimeText.ago(requestedAt, now: now)))")
            )
        }
        lines.append(("status", status))
        if let expiresAt, status.isSame(as: Approval.pending) {
            lines.append(("left", TimeText.span(max(expiresAt.timeIntervalSince(now), 0))))
        }
        if let resolvedAt { lines.append(("decided", CompanionTimestamp.string(from: resolvedAt))) }
        if let decidedBy { lines.append(("decider", decidedBy)) }
        if let continuedAt { lines.append(("went on", CompanionTimestamp.string(from: continuedAt))) }
        if let chosen = options?.name(of: option) { lines.append(("answer", chosen)) }
        if let chatId { lines.append(("chat", chatId)) }
        if let mode { lines.append(("mode", mode.name)) }
        if let options { lines.append(("answers", options.offered)) }
        let details = (details ?? [:]).sorted { $0.key < $1.key }
        for (key, value) in details.prefix(Self.mostDetails) { lines.append(("detail", "\(key) = \(value)")) }
        lines.append((options == nil ? "daemon" : "host", daemon))
        let cut = lines.count { $0.1.utf8.count > Self.fieldSize } + max(details.count - Self.mostDetails, 0)
        if cut > 0 {
            lines.append(("more", "\(cut) fields are not shown in full: pairtool approvals show \(id) --json"))
        }
        let fields = lines.map { name, value in
            let shown = String(decoding: value.utf8.prefix(Self.fieldSize), as: UTF8.self)
            return name + String(repeating: " ", count: 10 - name.count)
                + TerminalText.line(shown.utf8.count < value.utf8.count ? shown + "…" : shown)
        }
        let whole = arguments.map { $0.isEmpty ? [] : ["", TerminalText.block($0)] } ?? []
        return (fields + whole).joined(separator: "\n")
    }

    /// Bytes of a field, and details, that are shown.
    private static let fieldSize = 2000
    private static let mostDetails = 40
}

/// A decision in JSON.
struct ApprovalDecisionRow: Encodable {
    var id: String
    var action: String
    var status: String
    /// The host's message.
    var message: String?
    var option: String?
    var decidedBy: String?
    /// When the agent went on; nil where it was not seen to go on within a few seconds.
    var continuedAt: Date?
    /// Where it was decided.
    var daemon: String

    init(_ approval: Approval, at place: String) {
        id = approval.id
        action = approval.action
        status = approval.status
        message = approval.message
        option = approval.option
        decidedBy = approval.decidedBy
        daemon = place
    }
}
