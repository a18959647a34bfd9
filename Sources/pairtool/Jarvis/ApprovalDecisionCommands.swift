import ArgumentParser
import CompanionClient
import CompanionWire

struct ApprovalApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve a pending request.",
        discussion: """
            Examples:
              pairtool approvals approve 7b0e
              pairtool approvals approve 7b0e --via cloud
            """
    )

    @Argument(help: "The request, by id prefix.")
    var id: String
    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.withJarvis(options, via: place.via) { session in
            try await ApprovalDecision(session: session).decide(id, .approve)
        }
    }
}

struct ApprovalRejectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "Reject a pending request.",
        discussion: """
            Examples:
              pairtool approvals reject 7b0e --reason "not during the day"
              pairtool approvals reject 7b0e --reason "wrong room" --host Kitchen
            """
    )

    @Argument(help: "The request, by id prefix.")
    var id: String
    @Option(help: "The reason. The requester sees it.")
    var reason: String
    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if reason.trimmingWhitespace().isEmpty { throw ValidationError("A rejection needs a reason.") }
    }

    func run() async throws {
        try await host.withJarvis(options, via: place.via) { session in
            try await ApprovalDecision(session: session).decide(id, .reject(reason: reason.trimmingWhitespace()))
        }
    }
}

/// Approves or rejects a request and reports the result.
struct ApprovalDecision {
    let session: JarvisSession

    func decide(_ word: String, _ decision: JarvisDecision) async throws {
        let request = try await ApprovalLookup(client: session.client).find(word)
        let receipt = try await session.decide(request.id, decision)
        let row = ApprovalReceiptRow(receipt, action: request.action, at: session.client.base)
        session.output.result(row, id: row.id.description) {
            TerminalText.line(
                "\(decision == .approve ? "Approved" : "Rejected"): \(row.action.scalars(atMost: 200)) (\(row.id), at \(row.daemon))"
            )
        }
        if receipt.message == nil {
            session.output.say("The daemon's answer was lost, but the request's state confirms the decision.")
        }
    }
}
