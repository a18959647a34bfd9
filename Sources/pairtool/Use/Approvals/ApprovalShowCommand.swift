import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import Terminal

struct ApprovalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the details of a request: the command, or the whole diff.",
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
        let (output, environment) = (options.output, options.environment)
        try await host.selector.withApproval(id, configuration: place.configuration, in: environment) {
            session,
            found in
            try await ApprovalView(output: output, approvals: session.approvals, name: session.host.name)
                .show(found, avoidsPager: pager.avoidsPager)
        }
    }
}
