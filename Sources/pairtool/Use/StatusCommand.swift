import ArgumentParser
import CompanionApp
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show a host's state, and what it can do.",
        discussion: """
            Examples:
              pairtool status
              pairtool status --all-hosts
              pairtool status --watch --json
            """
    )

    @Flag(help: "Keep watching, and print every change.")
    var watch = false

    @Option(
        help: ArgumentHelp(
            "With --watch and a legacy host: the time between two polls. Default: 2s.",
            valueName: "time"
        ),
        transform: TimeSpan.init(wait:)
    )
    var interval = TimeSpan(seconds: 2)

    @OptionGroup var all: AllHostsOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try all.check(host)
    }

    func run() async throws {
        let (output, environment) = (options.output, options.environment)
        if all.allHosts, watch {
            let interval = interval.duration
            let worst = try await host.selector.followStatuses(every: interval, in: environment, output.show)
            if let worst { throw ExitRequest(worst) }
            return
        }
        guard !all.allHosts else { return try await showAll() }
        guard watch else {
            let status = try await host.selector.status(in: environment)
            output.show(status.report)
            guard let failure = status.failure else {
                return try host.selector.noteContact(with: status.host, in: environment)
            }
            // Show the failure only if the report does not already contain it.
            if output.format != .json, status.isFailureUnsaid { output.say(TerminalText.line(failure.message)) }
            throw output.ended(by: failure)
        }
        try await host.selector.repeating(environment) {
            let selected = try await host.selector.selected(environment)
            try await selected.followStatus(every: interval.duration, in: environment, output.show)
        }
    }

    /// The state of all hosts: a row each, whether or not they answer.
    private func showAll() async throws {
        let (output, environment) = (options.output, options.environment)
        let hosts = try host.selector.pairedHosts(with: .health, for: "its state", in: environment)
        let limit = all.limit ?? environment.hostLimit
        let results = try await host.selector.ask(hosts, in: environment, limit: limit) { one, environment in
            let status = try await one.status(in: environment)
            try one.noteContact(with: status.host, in: environment)
            return (report: status.report, failure: status.failure)
        }
        var failures = HostAnswers<HostStatusReport>()
        var rows: [(report: HostStatusReport, failure: AppError?)] = []
        for (host, result) in results {
            switch result {
            case .success(let row): rows.append(row)
            case .failure(let error):
                rows.append((HostStatusReport(host, problem: error.message), error))
                failures.failures.append((host, error))
            }
        }
        output.list(
            rows.map { $0.report },
            columns: [
                TableColumn("HOST", shrinks: true, rank: 0) { $0.name },
                TableColumn("STATE", rank: 0) { $0.state },
                TableColumn("FAMILY", rank: 3) { $0.programName },
                TableColumn("TRUST", rank: 2) { $0.trust.rawValue },
                TableColumn("ADDRESS") { $0.address },
                .id(rank: 4) { $0.id },
            ],
            id: \.id
        )
        if output.format == .text {
            for row in rows { if let failure = row.failure { output.say(TerminalText.line(failure.message)) } }
        }
        guard failures.failures.count == rows.count else { return }
        throw failures.failure(AppError(.failed, "hosts.none_answered", "no host answered"))
    }
}

extension Output {
    @Sendable fileprivate func show(_ report: HostStatusReport) {
        result(report, id: report.id) { fitted(report.facts) }
    }
}

extension HostStatusReport {
    fileprivate var programName: String { family.programName(speaksV2: trust == .verified) }

    fileprivate var facts: FactList {
        var facts: FactList = [
            "host": "\(name) (\(id.shortID)) at \(address)",
            "via": via == .direct ? nil : via.rawValue,
            "family": programName,
            "trust": trust.rawValue + howProven,
            "reachable": reachable ? "yes" : "no: \(problem ?? "")",
            "service": service.map { $0 + (version.map { " \($0)" } ?? "") },
            "generation": generation.map { "\($0)" },
            "signed in": signedIn.map { $0 ? "yes" : "no" },
            "connected": connection,
            "may": permissions.map { $0.isEmpty ? "read only" : $0.rights },
            "until": expiresAt.map { LocalTime.text($0) },
            "clock": clockOffsetSeconds.flatMap { offset in
                let end = offset > 0 ? "ahead" : "behind"
                return abs(offset) > 30 ? "\(TimeText.span(Double(offset))) \(end)" : nil
            },
            "can": commands.joined(separator: ", "),
        ]
        for (reason, texts) in missing { facts.add("cannot", "\(texts.joined(separator: ", ")): \(reason)") }
        return facts
    }

    /// Whether the host considers a device connected, and which; nil if that is not known.
    private var connection: String? {
        let name = deviceName ?? connectedDevice?.name
        guard reachable, !connected || name != nil else { return nil }
        if connected, let name { return "yes, as \(name)" }
        return "no" + (connectedDevice.map { " (replaced by \($0.name), \($0.id))" } ?? "")
    }

    /// The commands for what the host can do, each once.
    private var commands: [String] {
        var seen: Set<String> = []
        return capabilities.compactMap { $0.command?.dropping(prefix: "pairtool ").map(String.init) }
            .filter { $0 != "status" && seen.insert($0).inserted }
    }

    /// The capabilities that the host lacks, by the reason, in the order of the capabilities.
    private var missing: [(reason: String, texts: [String])] {
        capabilities.filter { !$0.available }.reduce(into: []) { rows, capability in
            let reason = capability.note ?? ""
            if let index = rows.firstIndex(where: { $0.reason.isSame(as: reason) }) {
                rows[index].texts.append(capability.text)
            } else {
                rows.append((reason, [capability.text]))
            }
        }
    }

    /// The state in a word or two.
    fileprivate var state: String {
        if !reachable { return "unreachable" }
        if !connected { return "not connected" }
        if problem != nil { return "has a problem" }
        return signedIn == false ? "no assistant" : "ready"
    }

    private var howProven: String {
        if trust == .verified { return " (TLS, both sides proven)" }
        if tls == true { return " (TLS, with the key that you trusted; nothing proven)" }
        return " (\(family.behavior.facts.legacyTransport), nothing proven)"
    }
}
