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
    var form: ApprovalForm?
    var link: String?
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
        (form, link) = (approval.form, approval.link)
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

    /// All fields. Long texts are shortened so that they cannot push the other lines off the screen, and a line says
    /// where they are in full.
    ///
    /// - Parameter command: The command for the requests of its place.
    func facts(now: Date, command: String) -> FactList {
        let details = (details ?? [:]).sorted { $0.key < $1.key }
        var facts: FactList = [:]
        var cut = max(details.count - Self.mostDetails, 0)
        func add(_ label: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            guard value.utf8.count > Self.fieldSize else { return facts.add(label, value) }
            cut += 1
            facts.add(label, String(decoding: value.utf8.prefix(Self.fieldSize), as: UTF8.self) + "…")
        }
        add("id", id)
        add("action", action)
        add("kind", kind)
        add("reason", reason)
        add("by", requestedBy)
        add("asked", requestedAt.map { "\(LocalTime.text($0)) (\(TimeText.ago($0, now: now)))" })
        add("status", status)
        if let expiresAt, status.isSame(as: Self.pending) {
            add("left", TimeText.span(max(expiresAt.timeIntervalSince(now), 0)))
        }
        add("decided", resolvedAt.map { LocalTime.text($0) })
        add("decider", decidedBy)
        add("went on", continuedAt.map { LocalTime.text($0) })
        add("answer", options?.name(of: option))
        add("chat", chatId)
        add("mode", mode?.name)
        // A form has its own.
        if options != [.accept, .decline, .dismiss] { add("answers", options?.offered) }
        for (key, value) in details.prefix(Self.mostDetails) { add("detail", "\(key) = \(value)") }
        add(options == nil ? "daemon" : "host", daemon)
        if cut > 0 { add("more", "\(cut) fields are not shown in full: \(command) show \(id) --json") }
        return facts
    }

    /// Bytes of a field, and details, that are shown.
    private static let fieldSize = 2000
    private static let mostDetails = 40
}
