import ArgumentParser
import CompanionClient
import CompanionWire
import Identity

struct ApprovalApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a pending request.",
        discussion: """
            Examples:
              pairtool approvals approve 7b0e
              pairtool approvals approve 7b0e --always
              pairtool approvals approve 7b0e --via cloud
            """
    )

    @Flag(help: "Also approve later requests of its kind, if the agent offers that and the host allows it.")
    var always = false

    @OptionGroup var decision: ApprovalDecisionOptions

    func run() async throws { try await decision.decide(.approve(always: always)) }
}

struct ApprovalRejectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Reject a pending request.",
        discussion: """
            Examples:
              pairtool approvals reject 7b0e
              pairtool approvals reject 7b0e --reason "wrong room" --host Kitchen
            """
    )

    @Option(help: "The reason. Jarvis daemons need one and pass it on; agents do not get it.")
    var reason: String?

    @Flag(help: "Also reject later requests of its kind, if the agent offers that and the host allows it.")
    var never = false

    @OptionGroup var decision: ApprovalDecisionOptions

    func validate() throws {
        if reason?.trimmingWhitespace().isEmpty == true { throw ValidationError("The reason is empty.") }
    }

    func run() async throws {
        try await decision.decide(.reject(always: never, reason: reason?.trimmingWhitespace()))
    }
}

/// The request that a command decides.
struct ApprovalDecisionOptions: ParsableArguments {
    @Argument(help: "The request, by id prefix.")
    var id: String
    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    /// Decides the request and reports the result.
    func decide(_ choice: ApprovalChoice) async throws {
        try await host.withApproval(id, at: place, options) { session, approval in
            let approvals = try session.approvals
            if approvals.needsReason, case .reject(_, nil) = choice {
                throw CommandError(
                    .usage,
                    "usage",
                    "\(session.host.name) needs a reason for a rejection; nothing was sent",
                    next: "pairtool approvals reject \(approval.id.shortID) --reason TEXT"
                )
            }
            let decided = try await approvals.decide(approval, choice)
            let row = ApprovalDecisionRow(decided, at: approvals.place)
            session.output.result(row, id: row.id) {
                let word = if case .approve = choice { "Approved" } else { "Rejected" }
                return TerminalText.line(
                    "\(word): \(row.action.scalars(atMost: 200)) (\(row.id), at \(row.daemon))"
                )
            }
            if decided.wasAnswerLost {
                session.output.say("The daemon's answer was lost, but the request's state confirms the decision.")
            }
        }
    }
}
