import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a host, and whether this device is connected to it.",
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
        help: "With --watch and a legacy host: the seconds between two requests. Default: 2.",
        transform: TimeSpan.init(inSeconds:)
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
        guard !all.allHosts else { return try await (watch ? followAll() : showAll()) }
        guard watch else {
            let selected = try await host.selector.selected(environment)
            let health = try await health(of: selected, in: environment)
            let report = HostStatusReport(selected, health: health)
            show(report)
            if let failure = report.failure(health) {
                // Show the failure only if the report does not already contain it.
                let isUnsaid = health.trouble != nil || !report.connected && report.connectedDevice == nil
                if output.format != .json, isUnsaid { output.say(TerminalText.line(failure.message)) }
                throw output.ended(by: failure)
            }
            return try host.selector.noteContact(with: selected, in: environment)
        }
        try await host.selector.repeating(environment) {
            try await follow(try await host.selector.selected(environment), in: environment)
        }
    }

    /// - Throws: `CompanionClientError` with the host's name, also if this device is no longer paired.
    private func health(of host: PairedHost, in environment: AppEnvironment) async throws -> HostHealth {
        do {
            let health = try await host.family.behavior.health(of: host, environment: environment, timeouts: .init())
            if let failure = health.standing?.failure { throw failure }
            return health
        } catch let error as CompanionClientError {
            await LocalHistory.forget(host, ifRevokedBy: error, in: environment)
            throw error.naming(host)
        }
    }

    /// The state of all hosts: a row each, whether or not they answer.
    private func showAll() async throws {
        let (output, environment) = (options.output, options.environment)
        let hosts = try host.selector.pairedHosts(with: .health, for: "its state", in: environment)
        let limit = all.limit ?? environment.hostLimit
        let results = try await host.selector.ask(hosts, in: environment, limit: limit) { one, environment in
            let selected = try await one.selected(environment)
            let health = try await health(of: selected, in: environment)
            try one.noteContact(with: selected, in: environment)
            let report = HostStatusReport(selected, health: health)
            return (report: report, failure: report.failure(health))
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
                TableColumn("FAMILY", rank: 3) { $0.family.displayName },
                TableColumn("TRUST", rank: 2) { $0.trust.rawValue },
                TableColumn("ADDRESS") { $0.address },
                TableColumn("ID", rank: 4) { $0.id.shortID },
            ],
            id: \.id
        )
        if output.format == .text {
            for row in rows { if let failure = row.failure { output.say(TerminalText.line(failure.message)) } }
        }
        guard failures.failures.count == rows.count else { return }
        throw failures.failure(AppError(.failed, "hosts.none_answered", "no host answered"))
    }

    private func followAll() async throws {
        let environment = options.environment
        let hosts = try host.selector.pairedHosts(with: .health, for: "its state", in: environment)
        let worst = try await host.selector.follow(hosts, in: environment) { one, host, environment in
            let selected: PairedHost
            do {
                selected = try await one.selected(environment)
            } catch let error as AppError where error.kind == .unreachable {
                show(HostStatusReport(host, problem: error.message))
                throw error
            }
            try await follow(selected, in: environment)
        }
        if let worst { throw ExitRequest(worst) }
    }

    private func follow(_ host: PairedHost, in environment: AppEnvironment) async throws {
        var last: HostStatusReport?
        func take(_ answer: Result<HostHealth, CompanionClientError>) throws {
            let report: HostStatusReport
            switch answer {
            case .failure(let error): report = HostStatusReport(host, problem: error.naming(host).description)
            case .success(let health):
                if let failure = health.standing?.failure {
                    guard host.trust != .verified else { throw failure }
                    report = HostStatusReport(host, problem: failure.naming(host).description)
                } else {
                    report = HostStatusReport(host, health: health)
                }
            }
            if report != last { show(report) }
            last = report
        }
        do {
            try await host.family.behavior.watchHealth(
                of: host,
                every: interval.duration,
                environment: environment,
                take
            )
        } catch let error as CompanionClientError {
            throw error.naming(host)
        }
    }

    private func show(_ report: HostStatusReport) {
        let output = options.output
        output.result(report, id: report.id) { output.fitted(report.text, indent: 11) }
    }
}

extension HostStatusReport {
    fileprivate var text: String {
        var lines = [
            "host       \(name) (\(id.shortID)) at \(address)", "family     \(family.displayName)",
            "trust      \(trust.rawValue)\(howProven)",
            "reachable  " + (reachable ? "yes" : "no: \(problem ?? "")"),
        ]
        if let service { lines.append("service    \(service)\(version.map { " \($0)" } ?? "")") }
        if let generation { lines.append("generation \(generation)") }
        if let signedIn { lines.append("signed in  \(signedIn ? "yes" : "no")") }
        if reachable, !connected || deviceName ?? connectedDevice?.name != nil {
            let other = connectedDevice.map { " (replaced by \($0.name), \($0.id))" } ?? ""
            let name = deviceName ?? connectedDevice?.name ?? "this device"
            lines.append("connected  " + (connected ? "yes, as \(name)" : "no\(other)"))
        }
        if let permissions {
            let names = permissions.map(\.rawValue).joined(separator: ", ")
            lines.append("may        read" + (names.isEmpty ? " only" : ", \(names)"))
        }
        if let expiresAt { lines.append("until      \(CompanionTimestamp.string(from: expiresAt))") }
        if let clockOffsetSeconds, abs(clockOffsetSeconds) > 30 {
            lines.append(
                "clock      \(TimeText.span(Double(clockOffsetSeconds))) \(clockOffsetSeconds > 0 ? "ahead" : "behind")"
            )
        }
        return lines.map(TerminalText.line).joined(separator: "\n")
    }

    /// The state in a word or two.
    fileprivate var state: String {
        if !reachable { return "no answer" }
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
