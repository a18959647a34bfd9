import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent

/// The option `--via`, for hosts that may have a second base URL.
struct ApprovalPlaceOption: ParsableArguments {
    @Option(
        help:
            "With a Jarvis daemon: use this base URL only: local, or cloud for the second one. Default: the second one if nothing answers at the first."
    )
    var via: CompanionClientConfiguration.BaseURL?

    /// How hosts are asked at the base URL.
    var configuration: CompanionClientConfiguration { CompanionClientConfiguration(via: via) }
}

extension CompanionClientConfiguration.BaseURL: ExpressibleByArgument {}

struct ApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "List what agents and daemons of paired hosts want to do, and approve or reject it.",
        discussion: """
            One inbox for all paired hosts that ask: agents of verified hosts, which this device may answer with the \
            permission approve, and Jarvis daemons. AICLI servers list no questions: their agents ask only where the \
            prompt was sent. --host shows those of one host. Name a request by its id, or by at least four characters \
            of it.

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
            help: "With --watch and a Jarvis daemon: the seconds between two requests. Default: 2.",
            transform: TimeSpan.init(inSeconds:)
        )
        var interval = TimeSpan(seconds: 2)

        @OptionGroup var all: AllHostsOptions
        @OptionGroup var host: HostOptions
        @OptionGroup var place: ApprovalPlaceOption
        @OptionGroup var options: OutputOptions

        func validate() throws {
            try all.check(host)
            if notify, !watch { throw ValidationError("--notify needs --watch.") }
        }

        func run() async throws {
            host.selector.sayUnlisted(options.output)
            let hosts = try host.selector.approvalHosts(options.environment)
            guard hosts.count > 1 || all.allHosts else {
                let one = hosts.first.map { host.selector.naming($0) } ?? host.selector
                guard watch else { return try await open(one, in: options.environment) { try await list($0) } }
                return try await one.withSessions(options.environment, configuration: place.configuration) { session in
                    try await watcher(session).run(notifies: notify)
                }
            }
            try await (watch ? watchAll(hosts) : listAll(hosts))
        }

        private func open<R>(
            _ host: HostSelector,
            in environment: AppEnvironment,
            _ body: (HostSession) async throws -> R
        ) async throws -> R {
            try await host.withSession(environment, configuration: place.configuration, body)
        }

        private func watcher(_ session: HostSession) throws -> ApprovalWatcher {
            ApprovalWatcher(
                session: session,
                output: options.output,
                approvals: try session.approvals,
                interval: interval.duration
            )
        }

        private func list(_ session: HostSession) async throws {
            let approvals = try session.approvals
            let list = try await approvals.approvals(all: false)
            report(list, at: approvals.place, on: options.output)
            guard !list.approvals.isEmpty else {
                throw AppError(
                    .nothingFound,
                    "approvals.none",
                    "no request waits for a decision at \(session.host.name)",
                    next: "pairtool approvals --watch"
                )
            }
            show(list.approvals.map { ApprovalRow($0, at: approvals.place) }, on: options.output) { $0 }
            if options.output.format == .text {
                options.output.say(TerminalText.line("At \(session.host.name). Next: pairtool approvals show ID"))
            }
        }

        /// - Parameter more: Columns that follow the action.
        private func show<Row: Encodable & Sendable>(
            _ rows: [Row],
            on output: Output,
            more: [TableColumn<Row>] = [],
            _ approval: @escaping (Row) -> ApprovalRow
        ) {
            let now = output.context.now()
            let first: [TableColumn<Row>] = [
                TableColumn("ID", rank: 0) { approval($0).id.shortID },
                TableColumn("ACTION", shrinks: true, rank: 0) { approval($0).action.scalars(atMost: 200) },
            ]
            let last: [TableColumn<Row>] = [
                TableColumn("BY", shrinks: true, rank: 2) { approval($0).asker },
                TableColumn("ASKED") { TimeText.ago(approval($0).requestedAt, now: now) },
            ]
            let mode = TableColumn.mode(rows) { approval($0).mode }
            output.list(rows, columns: first + more + last + mode) { approval($0).id }
        }

        private func report(_ list: ApprovalList, at place: String, on output: Output) {
            guard list.unreadable > 0 else { return }
            output.warn(
                "approvals.unreadable",
                "\(place) lists \(list.unreadable) more requests with invalid ids, which are left out"
            )
        }

        private func listAll(_ hosts: [PairedHost]) async throws {
            let (output, environment) = (options.output, options.environment)
            let results = try await host.selector.ask(hosts, in: environment, limit: all.limit ?? environment.hostLimit)
            {
                one,
                environment in
                try await open(one, in: environment) { session in
                    let approvals = try session.approvals
                    return (list: try await approvals.approvals(all: false), place: approvals.place)
                }
            }
            var found = HostAnswers<[ApprovalRow]>()
            for (host, result) in results {
                switch result {
                case .success(let answer):
                    report(answer.list, at: answer.place, on: output)
                    let rows = answer.list.approvals.map { ApprovalRow($0, at: answer.place) }
                    found.answers.append(.init(host: host, value: rows))
                // A host whose agent asks nothing over the network.
                case .failure(let error) where error.kind == .versionMismatch: found.emptyCount += 1
                case .failure(let error): found.failures.append((host, error))
                }
            }
            found.reportFailures(output)
            let rows = found.answers.flatMap { answer in answer.value.map { answer.row($0) } }
                .sorted { ($0.row.requestedAt ?? .distantPast) < ($1.row.requestedAt ?? .distantPast) }
            guard !rows.isEmpty else {
                throw found.failure(
                    AppError(
                        .nothingFound,
                        "approvals.none",
                        "no request waits for a decision",
                        next: "pairtool approvals --watch"
                    )
                )
            }
            let hostColumn = TableColumn<HostRow<ApprovalRow>>("HOST", shrinks: true, rank: 0) { $0.host.name }
            show(rows, on: output, more: [hostColumn]) { $0.row }
            if output.format == .text { output.say("Next: pairtool approvals show ID") }
        }

        private func watchAll(_ hosts: [PairedHost]) async throws {
            let worst = try await host.selector.follow(hosts, in: options.environment) { one, _, environment in
                try await open(one, in: environment) { session in
                    var watcher = try watcher(session)
                    watcher.namesHost = true
                    try await watcher.run(notifies: notify)
                }
            }
            if let worst { throw ExitRequest(worst) }
        }
    }
}

extension ApprovalRow {
    /// The person or program that asks, else the kind of tool, for a column.
    fileprivate var asker: String { (requestedBy ?? kind ?? "").scalars(atMost: 60) }
}
