import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

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
                  pairtool approvals list --all-hosts
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

        @OptionGroup var all: AllHostsOptions
        @OptionGroup var host: HostOptions
        @OptionGroup var place: ApprovalPlaceOption
        @OptionGroup var options: OutputOptions

        func validate() throws {
            try all.check(host)
            if notify, !watch { throw ValidationError("--notify needs --watch.") }
        }

        func run() async throws {
            guard !all.allHosts else { return try await (watch ? watchAll() : listAll()) }
            try await host.withJarvis(options, via: place.via) { session in
                guard watch else { return try await list(session) }
                try await ApprovalWatcher(session: session, interval: interval.duration).run(notifies: notify)
            }
        }

        private func list(_ session: JarvisSession) async throws {
            let pending = try await session.client.pending()
            let base = session.client.base
            report(pending, at: base, session.output)
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

        private func report(_ pending: JarvisPending, at base: JarvisBase, _ output: Output) {
            guard pending.unreadable > 0 else { return }
            output.warn(
                "approvals.unreadable",
                "\(base) lists \(pending.unreadable) more requests with invalid ids, which are left out"
            )
        }

        private func daemons(_ output: Output) throws -> [PairedHost] {
            try host.pairedHosts("approvals", output.context) { $0 is JarvisClient.Type }
        }

        private func listAll() async throws {
            let output = options.output
            let results = try await host.ask(try daemons(output), limit: all.limit) { one, _ in
                try await one.withJarvis(options, via: place.via) { session in
                    (pending: try await session.client.pending(), base: session.client.base)
                }
            }
            var found = HostAnswers<[ApprovalRow]>()
            for (host, result) in results {
                switch result {
                case .success(let answer):
                    report(answer.pending, at: answer.base, output)
                    let rows = answer.pending.approvals.map { ApprovalRow($0, at: answer.base) }
                    found.answers.append(.init(host: host, value: rows))
                case .failure(let error): found.failures.append((host, error))
                }
            }
            found.reportFailures(output)
            let rows = found.answers.flatMap { answer in answer.value.map { answer.row($0) } }
                .sorted { ($0.row.requestedAt ?? .distantPast) < ($1.row.requestedAt ?? .distantPast) }
            guard !rows.isEmpty else {
                throw found.failure(
                    CommandError(
                        .nothingFound,
                        "approvals.none",
                        "no request waits for a decision",
                        next: "pairtool approvals --watch --all-hosts"
                    )
                )
            }
            let now = output.context.now()
            output.list(
                rows,
                columns: [
                    TableColumn("ID", rank: 0) { String($0.row.id.description.prefix(8)) },
                    TableColumn("ACTION", shrinks: true, rank: 0) { $0.row.action.scalars(atMost: 200) },
                    TableColumn("HOST", shrinks: true, rank: 0) { $0.host.name },
                    TableColumn("BY", shrinks: true, rank: 2) { ($0.row.requestedBy ?? "").scalars(atMost: 60) },
                    TableColumn("ASKED") { TimeText.ago($0.row.requestedAt, now: now) },
                ],
                id: \.row.id.description
            )
            if output.format == .text { output.say("Next: pairtool approvals show ID --host NAME") }
        }

        private func watchAll() async throws {
            let output = options.output
            try await host.follow(try daemons(output), output) { one, _ in
                try await one.withJarvis(options, via: place.via) { session in
                    var watcher = ApprovalWatcher(session: session, interval: interval.duration)
                    watcher.namesHost = true
                    try await watcher.run(notifies: notify)
                }
            }
        }
    }
}
