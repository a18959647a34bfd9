import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

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

    @Flag(help: "Also approve later requests of the same kind, if the agent offers that and the host allows it.")
    var always = false

    @Option(
        help: "Give this answer, by its name or id (pairtool approvals show). Default: allow once."
    )
    var option: String?

    @OptionGroup var decision: ApprovalDecisionOptions

    func validate() throws {
        if option != nil, always { throw ValidationError("Use --option or --always, not both.") }
    }

    func run() async throws {
        try await decision.with { view, request in
            try await view.decide(request, with: option.map { .named($0) } ?? .allow(always: always))
        }
    }
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

    @Flag(help: "Also reject later requests of the same kind, if the agent offers that and the host allows it.")
    var never = false

    @OptionGroup var decision: ApprovalDecisionOptions

    func validate() throws {
        if reason?.trimmingWhitespace().isEmpty == true { throw ValidationError("The reason is empty.") }
    }

    func run() async throws {
        try await decision.with { view, request in
            try await view.decide(request, with: .reject(always: never, reason: reason?.trimmingWhitespace()))
        }
    }
}

/// The request that a command decides.
struct ApprovalDecisionOptions: ParsableArguments {
    @Argument(help: "The request, by id prefix.")
    var id: String
    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    /// Runs a body with the request and its place.
    func with(_ body: (ApprovalView, Approval) async throws -> Void) async throws {
        let (output, environment) = (options.output, options.environment)
        try await host.selector.withApproval(id, configuration: place.configuration, in: environment) {
            session,
            found in
            try await body(
                ApprovalView(output: output, approvals: session.approvals, name: session.host.name),
                found
            )
        }
    }
}
