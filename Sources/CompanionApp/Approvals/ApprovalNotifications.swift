import CompanionClient
import CompanionWire
import Desktop
import FoundationEssentials

/// The approval requests that are shown as desktop notifications.
actor ApprovalNotifications {
    private static let approve = "approve"
    private static let reject = "reject"
    /// Some hosts require a reason, and a notification button cannot ask for one.
    static let reason = "Rejected on the desktop"

    private let service: NotificationService
    /// The host to name, if several are watched.
    private let host: String?
    private var shown: [NotificationService.Shown: Approval] = [:]
    /// The user's answers that came before the service had told the number of the notification; nil while none is being
    /// shown.
    private var early: [NotificationService.Shown: ApprovalAnswer]?

    init(service: NotificationService, host: String?) {
        (self.service, self.host) = (service, host)
    }

    /// Shows a new request. An error of the notification service does not stop the watch.
    ///
    /// - Returns: The user's decision, if it came before the service had told the number of the notification.
    func show(_ approval: Approval, mayDecide: Bool) async -> ApprovalAnswer? {
        var lines: [String] = []
        if let reason = approval.reason, !reason.isEmpty { lines.append(reason.scalars(atMost: 300)) }
        if !approval.kind.isEmpty { lines.append(approval.kind.scalars(atMost: 60)) }
        if let by = approval.requestedBy, !by.isEmpty { lines.append("by \(by.scalars(atMost: 60))") }
        if let mode = approval.mode { lines.append(mode.text) }
        if let host { lines.append("at \(host.scalars(atMost: 60))") }
        // Nobody approves what is not shown in full.
        let isWhole = !approval.asksPerson && Self.fits(approval)
        if isWhole {
            lines += Self.details(of: approval)
            if let arguments = approval.arguments { lines.append(arguments) }
        }
        let verb = approval.asksPerson ? "answer" : "show"
        if !service.hasActions || !isWhole {
            lines.append("pairtool approvals \(verb) \(approval.id.scalars(atMost: 8))")
        }
        var actions = isWhole ? [(Self.approve, "Approve")] : []
        actions.append((Self.reject, approval.asksPerson ? "Decline" : "Reject"))
        early = [:]
        defer { early = nil }
        let notification = try? await service.show(
            title: "\(approval.asksPerson ? "The agent asks:" : "Approve?") \(approval.title.scalars(atMost: 200))",
            body: lines.joined(separator: "\n"),
            actions: mayDecide ? actions : [],
            isUrgent: true
        )
        guard let notification else { return nil }
        if let answer = early?[notification] { return answer }
        shown[notification] = approval
        return nil
    }

    private static func details(of approval: Approval) -> [String] {
        (approval.details ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
    }

    /// Whether all that a request says fits into a notification. What an agent would do is not always told in lists.
    private static func fits(_ approval: Approval) -> Bool {
        guard approval.options == nil || approval.arguments != nil else { return false }
        let rest = details(of: approval) + [approval.reason ?? "", approval.arguments ?? ""]
        return approval.title.unicodeScalars.count <= 200
            && rest.reduce(0) { $0 + $1.unicodeScalars.count } <= 300
    }

    /// Removes the notification of a request that is no longer waiting.
    func remove(_ approval: Approval) async {
        for (notification, other) in shown where other.id.isSame(as: approval.id) {
            shown[notification] = nil
            await service.close(notification)
        }
    }

    /// The decisions of the user; each request appears once.
    nonisolated var decisions: some AsyncSequence<(Approval, ApprovalAnswer), Never> & Sendable {
        service.events.compactMap { await self.decision($0) }
    }

    private func decision(_ event: NotificationService.Event) -> (Approval, ApprovalAnswer)? {
        switch event {
        case .closed(let notification):
            shown[notification] = nil
            return nil
        case .chosen(let notification, let action):
            guard let answer = Self.answer(action) else { return nil }
            guard let approval = shown.removeValue(forKey: notification) else {
                early?[notification] = answer
                return nil
            }
            return (approval, answer)
        }
    }

    private static func answer(_ action: String) -> ApprovalAnswer? {
        switch action {
        case approve: .allow(always: false)
        case reject: .reject(always: false, reason: reason)
        default: nil
        }
    }
}
