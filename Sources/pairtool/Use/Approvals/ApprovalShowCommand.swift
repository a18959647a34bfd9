import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire

struct ApprovalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the details of a request: the command, or the whole difference.",
        discussion: """
            Examples:
              pairtool approvals show 7b0e
              pairtool approvals show 7b0e --json
            """
    )

    @Argument(help: "The request, by id prefix.")
    var id: String

    @OptionGroup var pager: PagerOptions

    @OptionGroup var host: HostOptions
    @OptionGroup var place: ApprovalPlaceOption
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.selector.withApproval(id, at: place, in: options.environment) { session, approval in
            let approvals = try session.approvals
            let whole = approval.options == nil ? approval : try await approvals.approval(id: approval.id)?.approval
            let row = ApprovalRow(whole ?? approval, at: approvals.place)
            try await Pager.with(options.output, isWanted: !pager.avoidsPager) { output, _ in
                output.result(row, id: row.id) { row.text(now: output.context.now()) }
            }
        }
    }
}
