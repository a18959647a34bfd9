import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

/// The option `--via`, for all commands that contact a Jarvis daemon.
struct ApprovalPlaceOption: ParsableArguments {
    @Option(
        help:
            "Use this base URL only: local, or cloud for the second one. Default: the second one if nothing answers at the first."
    )
    var via: JarvisPlace?
}

extension JarvisPlace: ExpressibleByArgument {}

struct ApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "List what a Jarvis daemon wants to do, and approve or reject it.",
        discussion: """
            pairtool asks the daemon at its local address. It asks at the second base URL only if you set one \
            (pairtool pair --fallback-url) and nothing answers at the first. Name a request by its id, or by at \
            least four characters of it.

            Examples:
              pairtool approvals
              pairtool approvals --watch --notify
              pairtool approvals approve 7b0e
            """,
        subcommands: [
            List.self, ApprovalShowCommand.self, ApprovalApproveCommand.self, ApprovalRejectCommand.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the requests that wait for a decision, oldest first.",
            discussion: """
                Examples:
                  pairtool approvals list
                  pairtool approvals list --watch --json
                """
        )

        @Flag(help: "Keep watching, and print new and decided requests.")
        var watch = false

        @Flag(help: "With --watch: show each new request on the desktop, where it can be approved or rejected.")
        var notify = false

        @Option(
            help: "With --watch: the seconds between two requests. Default: 2.",
            transform: Seconds.init(commandLine:)
        )
        var interval = Seconds(2)

        @OptionGroup var host: HostOptions
        @OptionGroup var place: ApprovalPlaceOption
        @OptionGroup var options: OutputOptions

        func validate() throws {
            if notify, !watch { throw ValidationError("--notify needs --watch.") }
        }

        func run() async throws {
            try await host.withJarvis(options, via: place.via) { session in
                guard watch else { return try await list(session) }
                try await ApprovalWatcher(session: session, interval: interval.duration).run(notifies: notify)
            }
        }

        private func list(_ session: JarvisSession) async throws {
            let pending = try await session.client.pending()
            let base = session.client.base
            if pending.unreadable > 0 {
                session.output.warn(
                    "approvals.unreadable",
                    "\(base) lists \(pending.unreadable) more requests with invalid ids, which are left out"
                )
            }
            guard !pending.approvals.isEmpty else {
                throw CommandError(
                    .nothingFound,
                    "approvals.none",
                    "no request waits for a decision at \(base)",
                    next: "pairtool approvals --watch"
                )
            }
            let now = session.output.context.now()
            session.output.list(
                pending.approvals.map { ApprovalRow($0, at: base) },
                columns: [
                    TableColumn("ID", rank: 0) { String($0.id.description.prefix(8)) },
                    TableColumn("ACTION", shrinks: true, rank: 0) { $0.action.scalars(atMost: 200) },
                    TableColumn("BY", shrinks: true, rank: 2) { ($0.requestedBy ?? "").scalars(atMost: 60) },
                    TableColumn("ASKED") { TimeText.ago($0.requestedAt, now: now) },
                ],
                id: \.id.description
            )
            if session.output.format == .text { session.output.say("At \(base). Next: pairtool approvals show ID") }
        }
    }
}
