import CompanionClient
import CompanionWire
import FoundationEssentials
import Terminal

/// An approval request, or a decision about one, in JSON.
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
    var options: [ApprovalOption]?
    /// The id of the option that was chosen.
    var option: String?
    var decidedBy: String?
    var chatId: String?
    var turnId: String?
    /// The agent's mode when it asked.
    var mode: AgentMode?
    /// When the agent went on after the decision.
    var continuedAt: Date?
    /// The host's message about the decision; nil if it sent none.
    var message: String?
    /// The host at which it was read or decided: its address, or the base URL of a Jarvis daemon.
    var daemon: String

    private static let pending = "pending"

    init(_ approval: Approval, at place: String) {
        self.init(DecidedApproval(approval), at: place)
        kind = approval.kind.isEmpty ? nil : approval.kind
        reason = approval.reason
        requestedBy = approval.requestedBy
        requestedAt = approval.askedAt
        expiresAt = approval.expiresAt
        resolvedAt = approval.decidedAt
        details = approval.details
        arguments = approval.arguments
        options = approval.options
        chatId = approval.chatId.isEmpty ? nil : approval.chatId
        turnId = approval.turnId.isEmpty ? nil : approval.turnId
        mode = approval.mode
        continuedAt = approval.continuedAt
    }

    /// A decision, without what is known of the request already.
    init(_ decided: DecidedApproval, at place: String) {
        let approval = decided.approval
        id = approval.id
        action = approval.title
        status = approval.isPending ? Self.pending : approval.state.rawValue
        option = approval.option
        decidedBy = approval.decidedBy
        message = decided.message
        daemon = place
    }

    /// How far it is, for a column: the time that is left, if it ends by itself.
    func stateText(now: Date) -> String {
        guard status.isSame(as: Self.pending), let expiresAt else {
            return status.isSame(as: Approval.State.interrupted.rawValue) ? "host restarted" : status
        }
        return "\(TimeText.span(max(expiresAt.timeIntervalSince(now), 0))) left"
    }

    /// All fields, one per line. Long texts are shortened so that they cannot push the other lines off the screen, and a
    /// line says where they are in full; what a tool would do follows in full.
    ///
    /// - Parameter command: The command for the requests of its place.
    func text(now: Date, command: String) -> String {
        var lines = [("id", id), ("action", action)]
        if let kind { lines.append(("kind", kind)) }
        if let reason, !reason.isEmpty { lines.append(("reason", reason)) }
        if let requestedBy, !requestedBy.isEmpty { lines.append(("by", requestedBy)) }
        if let requestedAt {
            lines.append(
                ("asked", "\(LocalTime.text(requestedAt)) (\(TimeText.ago(requestedAt, now: now)))")
            )
        }
        lines.append(("status", status))
        if let expiresAt, status.isSame(as: Self.pending) {
            lines.append(("left", TimeText.span(max(expiresAt.timeIntervalSince(now), 0))))
        }
        if let resolvedAt { lines.append(("decided", LocalTime.text(resolvedAt))) }
        if let decidedBy { lines.append(("decider", decidedBy)) }
        if let continuedAt { lines.append(("went on", LocalTime.text(continuedAt))) }
        if let chosen = options?.name(of: option) { lines.append(("answer", chosen)) }
        if let chatId { lines.append(("chat", chatId)) }
        if let mode { lines.append(("mode", mode.name)) }
        if let options { lines.append(("answers", options.offered)) }
        let details = (details ?? [:]).sorted { $0.key < $1.key }
        for (key, value) in details.prefix(Self.mostDetails) { lines.append(("detail", "\(key) = \(value)")) }
        lines.append((options == nil ? "daemon" : "host", daemon))
        let cut = lines.count { $0.1.utf8.count > Self.fieldSize } + max(details.count - Self.mostDetails, 0)
        if cut > 0 {
            lines.append(("more", "\(cut) fields are not shown in full: \(command) show \(id) --json"))
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
