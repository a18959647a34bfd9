import CompanionClient
import CompanionWire
import FoundationEssentials

/// An approval request in JSON.
struct ApprovalRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var reason: String?
    var requestedBy: String?
    var requestedAt: Date?
    var resolvedAt: Date?
    var status: JarvisApprovalStatus
    var details: [String: String]?
    /// The base URL that it was read from.
    var daemon: String

    init(_ approval: JarvisApproval, at base: JarvisBase) {
        id = approval.id
        action = approval.action
        reason = approval.reason
        requestedBy = approval.requestedBy
        requestedAt = approval.requestedAt
        status = approval.status
        details = approval.details
        daemon = "\(base)"
    }

    init(_ state: JarvisApprovalState, at base: JarvisBase) {
        id = state.id
        action = state.action
        requestedAt = state.requestedAt
        resolvedAt = state.resolvedAt
        status = state.status
        daemon = "\(base)"
    }

    /// All fields, one per line. Long texts are shortened so that they cannot push the other lines off the screen.
    func text(now: Date) -> String {
        var lines = [("id", "\(id)"), ("action", action)]
        if let reason, !reason.isEmpty { lines.append(("reason", reason)) }
        if let requestedBy, !requestedBy.isEmpty { lines.append(("by", requestedBy)) }
        if let requestedAt {
            lines.append(
                ("asked", "\(CompanionTimestamp.string(from: requestedAt)) (\(TimeText.ago(requestedAt, now: now)))")
            )
        }
        lines.append(("status", "\(status)"))
        if let resolvedAt { lines.append(("decided", CompanionTimestamp.string(from: resolvedAt))) }
        for (key, value) in (details ?? [:]).sorted(by: { $0.key < $1.key }).prefix(40) {
            lines.append(("detail", "\(key.scalars(atMost: 60)) = \(value)"))
        }
        lines.append(("daemon", daemon))
        return lines.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + TerminalText.line(value.scalars(atMost: 2000))
        }.joined(separator: "\n")
    }
}

/// The daemon's answer to a request or a decision, in JSON.
struct ApprovalReceiptRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var status: JarvisApprovalStatus
    /// The daemon's message; absent if its answer was lost and the result is known only from the request's state.
    var message: String?
    /// The base URL that it was read from.
    var daemon: String

    init(_ receipt: JarvisReceipt, action: String, at base: JarvisBase) {
        id = receipt.id
        self.action = action
        status = receipt.status
        message = receipt.message
        daemon = "\(base)"
    }
}
