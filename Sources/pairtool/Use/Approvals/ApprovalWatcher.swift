import CompanionApp
import CompanionClient
import CompanionWire
import DBus
import Desktop
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

/// Watches the approval requests of a host, prints changes, and shows new requests on the desktop.
struct ApprovalWatcher: Sendable {
    let session: HostSession
    let output: Output
    let approvals: any ApprovalDeciding
    let interval: Duration
    /// Whether lines name the host, because several are watched.
    var namesHost = false

    private struct Line: Encodable {
        var event: String
        var at: Date
        var approval: ApprovalRow?
        var message: String?
        var daemon: String
    }

    /// - Parameter notifies: Whether to show new requests on the desktop too. If that is not possible, the user is told
    ///   and the watch continues.
    func run(notifies: Bool) async throws {
        output.say("Watching \(approvals.place). Ctrl-C ends it.")
        guard notifies else { return try await watch(nil) }
        do {
            try await NotificationService.with(environment: output.context.environment) { service in
                if !service.hasActions {
                    output.say(
                        "The desktop's notifications have no buttons here: decide with pairtool approvals."
                    )
                }
                try await watch(ApprovalNotifications(service: service, host: namesHost ? session.host.name : nil))
            }
        } catch let failure as DBusError {
            output.warn("approvals.no_notifications", "nothing is shown on the desktop: \(failure)")
            try await watch(nil)
        }
    }

    private func watch(_ notifications: ApprovalNotifications?) async throws {
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
                    if let notifications { await show(approval, in: notifications) }
                case .decided(let approval), .gone(let approval): await notifications?.remove(approval)
                case .continued, .interrupted, .resumed, .moved: break
                }
            }
        }
    }

    /// Shows a request on the desktop, with what it is about in full where its host tells that on request alone.
    private func show(_ approval: Approval, in notifications: ApprovalNotifications) async {
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
            let failure = AppError(describing: error)
            output.warn(
                failure.code,
                "\(approval.title.scalars(atMost: 200)): \(failure.message)",
                next: failure.next
            )
        }
    }

    private func show(_ event: ApprovalWatch.Event) {
        switch event {
        case .added(let approval):
            let person = approval.requestedBy ?? ""
            let remarks = [person.isEmpty ? approval.kind : "by \(person)", approval.mode?.text ?? ""]
            write(
                "added",
                sign: "+",
                approval: approval,
                remark: remarks.filter { !$0.isEmpty }.joined(separator: "  ")
            )
        case .decided(let approval):
            write(
                "decided",
                sign: "-",
                approval: approval,
                remark: approval.state.rawValue + (approval.decidedBy.map { " by \($0)" } ?? "")
            )
        case .continued(let approval): write("continued", sign: "-", approval: approval, remark: "the agent goes on")
        case .gone(let approval): write("gone", sign: "-", approval: approval, remark: "gone")
        case .interrupted(let message): note("interrupted", message: message)
        case .resumed(let place): note("resumed", message: "continuing at \(place)")
        case .moved(let place): note("moved", message: "continuing at \(place)")
        }
    }

    private func write(_ event: String, sign: String, approval: Approval, remark: String) {
        let row = ApprovalRow(approval, at: approvals.place)
        let now = output.context.now()
        switch output.format {
        case .json: json(Line(event: event, at: now, approval: row, daemon: row.daemon))
        case .quiet: output.data("\(sign)\(row.id)")
        case .text:
            let time = now.formatted(Date.ISO8601FormatStyle().time(includingFractionalSeconds: false))
            let id = row.id.shortID
            output.data(
                TerminalText.line(
                    "\(prefix)\(time) \(sign) \(id)  \(row.action.scalars(atMost: 200))  \(remark)".trimmingWhitespace()
                )
            )
        }
    }

    private func note(_ event: String, message: String) {
        if output.format == .json {
            let daemon = approvals.place
            json(Line(event: event, at: output.context.now(), message: message, daemon: daemon))
        } else {
            output.say(TerminalText.line(prefix) + message)
        }
    }

    private func json(_ line: Line) {
        if namesHost { output.json(HostRow(row: line, host: session.host)) } else { output.json(line) }
    }

    private var prefix: String { namesHost ? "\(session.host.name)  " : "" }
}
