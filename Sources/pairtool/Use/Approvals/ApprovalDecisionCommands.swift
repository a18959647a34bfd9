import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent

struct ApprovalApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a pending request.",
        discussion: """
            Examples:
              pairtool approvals approve 7b0e
              pairtool approvals approve 7b0e --always
              pairtool approvals approve 7b0e --option "Yes, in this folder"
            """
    )

    @Flag(help: "Also approve later requests of its kind, if the agent offers that and the host allows it.")
    var always = false

    @Option(
        help: "Give this answer, by its name or id (pairtool approvals show). Default: the one for yes, once."
    )
    var option: String?

    @OptionGroup var decision: ApprovalDecisionOptions

    func validate() throws {
        if option != nil, always { throw ValidationError("Use --option or --always, not both.") }
    }

    func run() async throws { try await decision.decide(option.map { .named($0) } ?? .allow(always: always)) }
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
    func decide(_ answer: ApprovalAnswer) async throws {
        try await host.selector.withApproval(id, at: place, in: options.environment) { session, approval in
            let approvals = try session.approvals
            if approvals.needsReason, case .reject(_, nil) = answer {
                throw AppError(
                    .usage,
                    "usage",
                    "\(session.host.name) needs a reason for a rejection; nothing was sent",
                    next: "pairtool approvals reject \(approval.id.shortID) --reason TEXT"
                )
            }
            let decided = try await approvals.decide(approval, with: answer)
            let isApproved = if case .reject = answer { false } else { true }
            // Daemons have no agent that goes on.
            let waits = isApproved && approval.options != nil && options.output.format != .quiet
            var row = ApprovalRow(decided, at: approvals.place)
            var interruption: CancellationError?
            if waits, options.output.format == .json {
                do {
                    row.continuedAt = try await continuation(decided.approval, at: approvals)
                } catch let error as CancellationError {
                    // The decision is made, and is reported.
                    interruption = error
                }
            }
            options.output.result(row, id: row.id) {
                TerminalText.line(
                    "\(isApproved ? "Approved" : "Rejected"): "
                        + "\(row.action.scalars(atMost: 200)) (\(row.id), at \(row.daemon))"
                )
            }
            if let interruption { throw interruption }
            if decided.wasAnswerLost {
                options.output.say("The daemon's answer was lost, but the request's state confirms the decision.")
            }
            if waits, options.output.format == .text {
                let time = try await continuation(decided.approval, at: approvals)
                options.output.sayContinuation(time, next: "pairtool approvals show \(decided.approval.id.shortID)")
            }
        }
    }

    /// When the agent went on, if it does so soon.
    private func continuation(_ approval: Approval, at approvals: any ApprovalDeciding) async throws -> Date? {
        try await ContinuationWait().run { try await approvals.state(of: approval)?.continuedAt }
    }
}

extension Output {
    /// Says whether the agent went on after it was allowed to.
    ///
    /// - Parameter next: The command that shows it later.
    func sayContinuation(_ time: Date?, next: String) {
        say(time == nil ? "The agent has not gone on yet. To see whether it has: \(next)" : "The agent goes on.")
    }
}
