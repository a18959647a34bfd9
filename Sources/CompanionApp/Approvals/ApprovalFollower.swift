package import CompanionClient
import CompanionWire
import DBus
import Desktop
package import PairingAgent

/// Follows the requests of a host, and decides what the user decides about them on the desktop.
package struct ApprovalFollower: Sendable {
    private let approvals: any ApprovalDeciding
    private let interval: Duration
    private let host: String?
    private let interaction: any Interaction

    /// - Parameters:
    ///   - interval: Between two looks at a host that tells nothing by itself.
    ///   - host: The host that notifications name; nil if one is followed alone.
    ///   - interaction: Is told what keeps requests from the desktop, and which decisions failed.
    package init(
        approvals: any ApprovalDeciding,
        interval: Duration,
        host: String?,
        interaction: any Interaction
    ) {
        (self.approvals, self.interval, self.host) = (approvals, interval, host)
        self.interaction = interaction
    }

    /// Follows them until the task is cancelled.
    ///
    /// - Parameters:
    ///   - desktop: The environment variables that say where the desktop is, to show new requests there too; nil for
    ///     not at all. If that is not possible, the user is told and the watch continues.
    ///   - show: Called with each change.
    /// - Throws: What ``ApprovalWatch`` throws.
    package func run(
        desktop: [String: String]?,
        show: @escaping @Sendable (ApprovalWatch.Event) -> Void
    ) async throws {
        guard let desktop else { return try await watch(nil, show: show) }
        do {
            try await NotificationService.with(environment: desktop) { service in
                if !service.hasActions {
                    interaction.say("Notifications on this desktop have no buttons. To decide: pairtool approvals")
                }
                try await watch(ApprovalNotifications(service: service, host: host), show: show)
            }
        } catch let failure as DBusError {
            interaction.warn(
                AppError(.failed, "approvals.no_notifications", "no desktop notifications are shown: \(failure)")
            )
            try await watch(nil, show: show)
        }
    }

    private func watch(
        _ notifications: ApprovalNotifications?,
        show: @escaping @Sendable (ApprovalWatch.Event) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            if let notifications {
                group.addTask {
                    for await (approval, answer) in notifications.decisions { await decide(approval, with: answer) }
                }
            }
            try await ApprovalWatch(approvals: approvals, interval: interval).run { event in
                show(event)
                switch event {
                case .added(let approval):
                    if let notifications { await notify(of: approval, by: notifications) }
                case .decided(let approval), .gone(let approval): await notifications?.remove(approval)
                case .continued, .interrupted, .resumed, .moved: break
                }
            }
        }
    }

    /// Shows a request on the desktop, with what it is about in full where its host tells that on request alone.
    private func notify(of approval: Approval, by notifications: ApprovalNotifications) async {
        var whole: ApprovalResponse?
        if approval.options != nil { whole = try? await approvals.approval(id: approval.id) }
        let answer = await notifications.show(whole?.approval ?? approval, mayDecide: whole?.mayDecide ?? true)
        if let answer { await decide(approval, with: answer) }
    }

    /// Sends a decision that was made on the desktop. The watch reports the result.
    private func decide(_ approval: Approval, with answer: ApprovalAnswer) async {
        do {
            _ = try await approvals.decide(approval, with: answer)
        } catch {
            var failure = AppError(describing: error)
            failure.message = "\(approval.title.scalars(atMost: 200)): \(failure.message)"
            interaction.warn(failure)
        }
    }
}
