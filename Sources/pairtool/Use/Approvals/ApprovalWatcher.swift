import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import Terminal

/// Prints the changes of the approval requests of a host.
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

    /// - Parameter notifies: Whether to show new requests on the desktop too.
    func run(notifies: Bool) async throws {
        output.say("Watching \(approvals.place). Ctrl-C ends it.")
        let follower = ApprovalFollower(
            approvals: approvals,
            interval: interval,
            host: namesHost ? session.host.name : nil,
            interaction: TerminalInteraction(output: output)
        )
        try await follower.run(desktop: notifies ? output.context.environment : nil, show: show)
    }

    @Sendable private func show(_ event: ApprovalWatch.Event) {
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
        case .continued(let approval): write("continued", sign: "-", approval: approval, remark: "the agent continues")
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
        case .quiet: output.data(TerminalText.line("\(sign)\(row.id)"))
        case .text:
            let time = LocalTime.clock(now)
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
