import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

/// Shows the requests of one place and decides them: those of a paired host, or the owner's own.
struct ApprovalView {
    let output: Output
    let approvals: any ApprovalDeciding
    /// The place in a sentence, such as `Studio`.
    let name: String
    /// The command for its requests.
    var command = "pairtool approvals"
    /// The command that waits for requests, if there is one.
    var watchCommand: String? = "pairtool approvals --watch"

    /// - Parameter all: Whether requests that wait no more are listed as well.
    func list(all: Bool) async throws {
        let list = try await approvals.approvals(all: all)
        output.warnOfUnreadable(list, at: approvals.place)
        guard !list.approvals.isEmpty else {
            throw AppError.empty(
                all ? "No requests at \(name)" : "No request is waiting for a decision at \(name)",
                next: watchCommand
            )
        }
        output.list(list.approvals.map { ApprovalRow($0, at: approvals.place) }) { $0 }
        if output.format == .text { output.say(TerminalText.line("At \(name). Next: \(command) show ID")) }
    }

    /// Shows a request with all that it is about.
    func show(_ approval: Approval, avoidsPager: Bool) async throws {
        let whole = approval.options == nil ? nil : try await approvals.approval(id: approval.id)
        let row = ApprovalRow(whole?.approval ?? approval, at: approvals.place)
        try await Pager.with(output, isWanted: !avoidsPager) { output, _ in
            output.result(row, id: row.id) {
                // What a tool would do follows in full.
                let whole = row.arguments.flatMap { $0.isEmpty ? nil : "\n\n" + TerminalText.block($0) } ?? ""
                return output.fitted(row.facts(now: output.context.now(), command: command)) + whole
            }
        }
        guard output.format == .text, approval.isPending, whole?.mayDecide ?? true else { return }
        let verb = approval.asksPerson ? "answer" : "approve"
        output.say("To answer: \(command) \(verb) \(row.id.shortID), or reject \(row.id.shortID)")
    }

    /// Answers a form or a page.
    ///
    /// - Parameters:
    ///   - values: As they were typed; nil to ask the user.
    ///   - interaction: Asks the user.
    func answer(_ approval: Approval, values: [ApprovalForm.Typed]?, interaction: TerminalInteraction)
        async throws
    {
        let found = approval.asksPerson ? try await approvals.approval(id: approval.id) : nil
        if let found, !found.mayDecide {
            throw AppError(
                .permissionDenied,
                "host.forbidden",
                "this device may not answer",
                next: "at the host: pairtool host permissions DEVICE --add approve"
            )
        }
        guard let whole = found?.approval else {
            throw AppError(
                .usage,
                "usage",
                "“\(approval.title.scalars(atMost: 200))” is neither a form nor a page",
                next: "\(command) approve \(approval.id.shortID), or reject"
            )
        }
        if let values {
            return try await decide(whole, with: .filled(try read(values, for: whole)))
        }
        guard interaction.canAsk else {
            let values = whole.form == nil ? "approve" : "answer"
            throw AppError(
                .usage,
                "usage",
                "there is no terminal to ask at",
                next: "\(command) \(values) \(whole.id.shortID)\(whole.form == nil ? "" : " --field NAME=VALUE")"
            )
        }
        guard whole.isPending else { return try await decide(whole, with: .dismissed) }
        try await interaction.show(whole)
        if let answer = try await interaction.answerByHand(whole) { try await decide(whole, with: answer) }
    }

    /// - Throws: ``AppError`` that names each value which cannot be taken.
    private func read(_ values: [ApprovalForm.Typed], for approval: Approval) throws -> [String: JSONValue] {
        let next = "\(command) show \(approval.id.shortID)"
        guard let form = approval.form else {
            throw AppError(
                .usage,
                "usage",
                "“\(approval.title.scalars(atMost: 200))” asks for no values",
                next: next
            )
        }
        do throws(FormFaults) {
            return try form.values(typed: values)
        } catch {
            throw AppError(.usage, "approval.invalid_answer", "the answer cannot be sent: \(error)", next: next)
        }
    }

    /// Decides a request and reports the result.
    func decide(_ approval: Approval, with answer: ApprovalAnswer) async throws {
        if approvals.needsReason, case .reject(_, nil) = answer {
            throw AppError(
                .usage,
                "usage",
                "\(name) needs a reason for a rejection; nothing was sent",
                next: "\(command) reject \(approval.id.shortID) --reason TEXT"
            )
        }
        if approval.kind.isSame(as: Approval.formKind), case .allow = answer, approval.asksPerson {
            throw AppError(
                .usage,
                "usage",
                "“\(approval.title.scalars(atMost: 200))” is a form: it needs an answer",
                next: "\(command) answer \(approval.id.shortID)"
            )
        }
        let decided = try await approvals.decide(approval, with: answer)
        let isApproved =
            switch answer {
            case .reject, .dismissed: false
            default: true
            }
        // Daemons have no agent that goes on.
        let waits = isApproved && approval.options != nil && output.format != .quiet
        var row = ApprovalRow(decided, at: approvals.place)
        var interruption: CancellationError?
        if waits, output.format == .json {
            do {
                row.continuedAt = try await continuation(decided.approval)
            } catch let error as CancellationError {
                // The decision is made, and is reported.
                interruption = error
            }
        }
        output.result(row, id: row.id) {
            let isForm = approval.asksPerson
            let chosen = isForm ? "" : decided.approval.chosen.map { ", with “\($0)”" } ?? ""
            let verb =
                switch answer {
                case .dismissed: "Dismissed"
                case .reject: isForm ? "Declined" : "Rejected"
                default: isForm ? "Answered" : "Approved"
                }
            return TerminalText.line(
                "\(verb): "
                    + "\(row.action.scalars(atMost: 200))\(chosen) (\(row.id), at \(row.daemon))"
            )
        }
        if let interruption { throw interruption }
        if decided.wasAnswerLost {
            output.say("The daemon's answer was lost, but the request's state confirms the decision.")
        }
        if waits, output.format == .text {
            let time = try await continuation(decided.approval)
            output.say(
                time == nil
                    ? "The agent has not continued yet. To check: \(command) show \(row.id.shortID)"
                    : "The agent continues."
            )
        }
    }

    /// When the agent went on, if it does so soon.
    private func continuation(_ approval: Approval) async throws -> Date? {
        try await ContinuationWait().run { [approvals] in try await approvals.state(of: approval)?.continuedAt }
    }
}

extension Output {
    /// - Parameters:
    ///   - more: Columns that follow the action.
    ///   - approval: The request of a row.
    func list<Row: Encodable & Sendable>(
        _ rows: [Row],
        more: [TableColumn<Row>] = [],
        approval: @escaping (Row) -> ApprovalRow
    ) {
        let now = context.now()
        let first: [TableColumn<Row>] = [
            .id { approval($0).id },
            TableColumn("ACTION", shrinks: true, rank: 0) { approval($0).action.scalars(atMost: 200) },
        ]
        let last: [TableColumn<Row>] = [
            TableColumn("BY", shrinks: true, rank: 2) { approval($0).asker },
            TableColumn("ASKED") { TimeText.ago(approval($0).requestedAt, now: now) },
            TableColumn("STATE", rank: 1) { approval($0).stateText(now: now) },
        ]
        let mode = TableColumn.mode(rows) { approval($0).mode }
        list(rows, columns: first + more + last + mode) { approval($0).id }
    }

    func warnOfUnreadable(_ list: ApprovalList, at place: String) {
        guard list.unreadable > 0 else { return }
        warn(
            "approvals.unreadable",
            "\(place) lists \(list.unreadable) more requests with invalid ids, which are left out"
        )
    }
}

extension ApprovalRow {
    /// The person or program that asks, else the kind of tool, for a column.
    fileprivate var asker: String { (requestedBy ?? kind ?? "").scalars(atMost: 60) }
}
