import CompanionClient
import CompanionWire
import FoundationEssentials

/// A request for approval in JSON.
struct ApprovalRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var reason: String?
    var requestedBy: String?
    var requestedAt: Date?
    var resolvedAt: Date?
    var status: JarvisApprovalStatus
    var details: [String: String]?
    /// The base URL that it is from.
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

    /// All of it, a line each. No text is so long that it pushes the rest out of sight.
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
            lines.append(("detail", "\(key.prefix(60)) = \(value)"))
        }
        lines.append(("daemon", daemon))
        return lines.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + TerminalText.line(String(value.prefix(2000)))
        }.joined(separator: "\n")
    }
}

/// What a daemon says to a request or a decision, in JSON.
struct ApprovalReceiptRow: Encodable {
    var id: JarvisApprovalID
    var action: String
    var status: JarvisApprovalStatus
    /// The daemon's words; absent if its answer was lost and only its state tells.
    var message: String?
    /// The base URL that it is from.
    var daemon: String

    init(_ receipt: JarvisReceipt, action: String, at base: JarvisBase) {
        id = receipt.id
        self.action = action
        status = receipt.status
        message = receipt.message
        daemon = "\(base)"
    }
}
