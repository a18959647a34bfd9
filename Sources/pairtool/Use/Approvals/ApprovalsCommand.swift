import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

/// The option `--via`, for hosts that may have a second base URL.
struct ApprovalPlaceOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            With a Jarvis daemon: use only this base URL, local or cloud (the second one). Default: the second one if \
            nothing answers at the first.
            """,
            valueName: "place"
        )
    )
    var via: CompanionClientConfiguration.BaseURL?

    /// How hosts are asked at the base URL.
    var configuration: CompanionClientConfiguration { CompanionClientConfiguration(via: via) }
}

extension CompanionClientConfiguration.BaseURL: ExpressibleByArgument {}

struct ApprovalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approvals",
        abstract: "Show what agents want to do, and approve or reject it.",
        discussion: """
            One inbox for all paired hosts that ask: verified hosts, whose agents this device may answer if it has the \
            permission approve, and Jarvis daemons. AICLI servers list no questions: their agents ask only where the \
            prompt was sent. --host shows the requests of one host. Name a request by its id, or by at least its first \
            four characters.

            Examples:
              pairtool approvals
              pairtool approvals --watch --notify
              pairtool approvals approve 7b0e
            """,
        subcommands: [
            List.self, ApprovalShowCommand.self, ApprovalApproveCommand.self, ApprovalRejectCommand.self,
            ApprovalAnswerCommand.self,
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
            help: ArgumentHelp(
                "With --watch and a Jarvis daemon: the time between two polls. Default: 2s.",
                valueName: "time"
            ),
            transform: TimeSpan.init(wait:)
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
            sayUnlisted()
            let hosts = try host.selector.approvalHosts(options.environment)
            guard hosts.count > 1 || all.allHosts else {
                let one = hosts.first.map { host.selector.naming($0) } ?? host.selector
                guard watch else {
                    return try await open(one, in: options.environment) { session in
                        let name = session.host.name
                        try await ApprovalView(output: options.output, approvals: session.approvals, name: name)
                            .list(all: false)
                    }
                }
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

        /// Names the hosts whose questions are in no list.
        private func sayUnlisted() {
            guard options.output.format == .text else { return }
            let names = host.selector.unlistedHosts(options.environment).map(TerminalText.line)
            guard !names.isEmpty else { return }
            options.output.say(
                "Not listed: \(names.joined(separator: ", ")). Agents there ask only in the command that sent the "
                    + "prompt: pairtool send, chat or outbox send."
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
                    output.warnOfUnreadable(answer.list, at: answer.place)
                    let rows = answer.list.approvals.map { ApprovalRow($0, at: answer.place) }
                    found.answers.append(Answer(host: host, value: rows))
                // A host whose agent asks nothing over the network.
                case .failure(let error) where error.kind == .versionMismatch: found.emptyCount += 1
                case .failure(let error): found.failures.append((host, error))
                }
            }
            found.reportFailures(output)
            let rows = found.answers.flatMap { answer in answer.value.map { answer.row($0) } }
                .sorted { ($0.row.requestedAt ?? .distantPast) < ($1.row.requestedAt ?? .distantPast) }
            guard !rows.isEmpty else {
                throw found.failure(.empty("No request is waiting for a decision", next: "pairtool approvals --watch"))
            }
            let hostColumn = TableColumn<HostRow<ApprovalRow>>("HOST", shrinks: true, rank: 0) { $0.host.name }
            output.list(rows, more: [hostColumn]) { $0.row }
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
