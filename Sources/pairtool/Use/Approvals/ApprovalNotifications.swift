import CompanionClient
import CompanionWire
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

    init(service: NotificationService, host: String?) {
        (self.service, self.host) = (service, host)
    }

    /// Shows a new request. An error of the notification service does not stop the watch.
    func show(_ approval: Approval) async {
        var lines: [String] = []
        if let reason = approval.reason, !reason.isEmpty { lines.append(reason.scalars(atMost: 300)) }
        if !approval.kind.isEmpty { lines.append(approval.kind.scalars(atMost: 60)) }
        if let by = approval.requestedBy, !by.isEmpty { lines.append("by \(by.scalars(atMost: 60))") }
        if let host { lines.append("at \(host.scalars(atMost: 60))") }
        // Nobody approves what is not shown in full.
        let isWhole = approval.options == nil || approval.arguments.map { $0.unicodeScalars.count <= 300 } ?? false
        if isWhole, let arguments = approval.arguments { lines.append(arguments) }
        if !service.hasActions || !isWhole { lines.append("pairtool approvals show \(approval.id.scalars(atMost: 8))") }
        var actions = isWhole ? [(Self.approve, "Approve")] : []
        actions.append((Self.reject, "Reject"))
        let notification = try? await service.show(
            title: "Approve? \(approval.action.scalars(atMost: 200))",
            body: lines.joined(separator: "\n"),
            actions: approval.mayDecide ? actions : [],
            isUrgent: true
        )
        if let notification { shown[notification] = approval }
    }

    /// Removes the notification of a request that is no longer waiting.
    func remove(_ approval: Approval) async {
        for (notification, other) in shown where other.id.isSame(as: approval.id) {
            shown[notification] = nil
            await service.close(notification)
        }
    }

    /// The decisions of the user; each request appears once.
    nonisolated var decisions: some AsyncSequence<(Approval, ApprovalChoice), Never> & Sendable {
        service.events.compactMap { await self.decision($0) }
    }

    private func decision(_ event: NotificationService.Event) -> (Approval, ApprovalChoice)? {
        switch event {
        case .closed(let notification):
            shown[notification] = nil
            return nil
        case .chosen(let notification, let action):
            guard [Self.approve, Self.reject].contains(action), let approval = shown.removeValue(forKey: notification)
            else { return nil }
            let isApproved = action == Self.approve
            return (approval, isApproved ? .approve(always: false) : .reject(always: false, reason: Self.reason))
        }
    }
}
