import CompanionClient
import CompanionWire
import FoundationEssentials

/// The approval requests that are shown as desktop notifications.
actor ApprovalNotifications {
    private static let approve = "approve"
    private static let reject = "reject"
    /// The daemon requires a reason, and a notification button cannot ask for one.
    static let reason = "Rejected on the desktop"

    private let service: NotificationService
    private var shown: [NotificationService.Shown: JarvisApproval] = [:]

    init(service: NotificationService) {
        self.service = service
    }

    /// Shows a new request. An error of the notification service does not stop the watch.
    func show(_ approval: JarvisApproval) async {
        var body = approval.reason.scalars(atMost: 300)
        if !approval.requestedBy.isEmpty {
            body += (body.isEmpty ? "" : "\n") + "by \(approval.requestedBy.scalars(atMost: 60))"
        }
        if !service.hasActions { body += "\npairtool approvals show \(approval.id.description.prefix(8))" }
        let notification = try? await service.show(
            title: "Approve? \(approval.action.scalars(atMost: 200))",
            body: body,
            actions: [(Self.approve, "Approve"), (Self.reject, "Reject")],
            isUrgent: true
        )
        if let notification { shown[notification] = approval }
    }

    /// Removes the notification of a request that is no longer waiting.
    func remove(_ approval: JarvisApproval) async {
        for (notification, other) in shown where other.id == approval.id {
            shown[notification] = nil
            await service.close(notification)
        }
    }

    /// The decisions of the user; each request appears once.
    nonisolated var decisions: some AsyncSequence<(JarvisApproval, JarvisDecision), Never> & Sendable {
        service.events.compactMap { await self.decision($0) }
    }

    private func decision(_ event: NotificationService.Event) -> (JarvisApproval, JarvisDecision)? {
        switch event {
        case .closed(let notification):
            shown[notification] = nil
            return nil
        case .chosen(let notification, let action):
            guard [Self.approve, Self.reject].contains(action), let approval = shown.removeValue(forKey: notification)
            else { return nil }
            return (approval, action == Self.approve ? .approve : .reject(reason: Self.reason))
        }
    }
}
