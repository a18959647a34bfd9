import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a host, and whether this device is connected to it.",
        discussion: """
            Examples:
              pairtool status
              pairtool status --host Studio
              pairtool status --watch --json
            """
    )

    @Flag(help: "Keep watching, and print every change.")
    var watch = false

    @Option(
        help: "With --watch and a legacy host: the seconds between two requests. Default: 2.",
        transform: Seconds.init(commandLine:)
    )
    var interval = Seconds(2)

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        if let other = try host.otherFamily(options) {
            return try await FamilyStatus(host: other, output: options.output).run(
                watches: watch,
                every: interval.duration
            )
        }
        if watch { return try await host.withSessions(options, follow) }
        try await host.withSession(options) { session in
            let report = try await HostStatusReport.read(session)
            show(report, session)
            if let failure = report.failure { throw session.output.ended(by: failure) }
        }
    }

    private func follow(_ session: HostSession) async throws {
        // A legacy host sends no events.
        guard session.isVerified else {
            return try await HostStatusReport.poll(session.host, every: interval.duration) {
                try await HostStatusReport.read(session)
            } show: {
                show($0, session)
            }
        }
        var last = try await HostStatusReport.read(session)
        show(last, session)
        try await LiveFeed(client: try session.copilotForge, patience: HostOptions.patience).run { output in
            let report: HostStatusReport
            switch output {
            case .event, .resumed: report = try await HostStatusReport.read(session)
            case .interrupted(let reason): report = HostStatusReport(session.host, problem: reason)
            }
            if report != last { show(report, session) }
            last = report
        }
    }

    private func show(_ report: HostStatusReport, _ session: HostSession) {
        session.output.result(report, id: report.id) { session.output.fitted(report.text, indent: 11) }
    }
}

/// The state of a host, as this device sees it.
struct HostStatusReport: Encodable, Equatable {
    var id: String
    var name: String
    var family: HostFamily
    var trust: HostTrust
    /// True where TLS ends at a key that was trusted when the host was paired, though nothing was proven; else absent.
    var tls: Bool?
    /// Where it was asked, or is asked for: of a Jarvis daemon, the base URL in use.
    var address: String
    var reachable: Bool
    var service: String?
    var version: String?
    /// The generation of its family, if it says so.
    var generation: String?
    /// Whether the assistant's account is signed in on the host.
    var signedIn: Bool?
    /// Whether this device is connected. Of other families than CopilotForge's: whether the host answers.
    var connected: Bool
    var connectedDevice: ConnectedCompanionDevice?
    /// What the host lists this device as; of verified hosts only.
    var deviceName: String?
    /// The host's clock minus this machine's, in seconds.
    var clockOffsetSeconds: Int64?
    var problem: String?
    /// What this device may do besides reading; of verified hosts only.
    var permissions: [CompanionPermission]?
    /// When this device's access ends; absent if it does not.
    var expiresAt: Date?

    init(_ host: PairedHost, problem: String? = nil) {
        id = host.id
        name = host.name
        family = host.family
        trust = host.trust
        tls = host.trust == .legacy && host.spki != nil ? true : nil
        address = "\(host.endpoint)"
        reachable = false
        connected = false
        self.problem = problem
    }

    static func read(_ session: HostSession) async throws -> HostStatusReport {
        var report = HostStatusReport(session.host)
        let companion = try session.copilotForge
        let health = try await companion.health()
        report.reachable = true
        report.service = health.service
        report.version = health.version
        let status = try await companion.status()
        report.connectedDevice = status.connectedDevice
        // Several devices of protocol 2 are connected at a time: what counts is that the host knows this one.
        report.connected =
            (session.isVerified ? status.device?.id : status.connectedDevice?.id) == session.host.deviceID
        report.deviceName = status.device?.name
        report.permissions = status.permissions
        report.expiresAt = status.expiresAt
        report.signedIn = try? await companion.authStatus().authenticated
        report.clockOffsetSeconds = companion.clockOffset?.components.seconds
        return report
    }

    /// Polls a host, and shows what has changed.
    static func poll(
        _ host: PairedHost,
        every interval: Duration,
        read: () async throws -> HostStatusReport,
        show: (HostStatusReport) -> Void
    ) async throws {
        var last: HostStatusReport?
        while true {
            let report: HostStatusReport
            do {
                report = try await read()
            } catch let error as CompanionClientError {
                report = HostStatusReport(host, problem: error.description)
            }
            if report != last { show(report) }
            last = report
            try await ContinuousClock().sleep(for: interval)
        }
    }

    var text: String {
        var lines = [
            "host       \(name) (\(id.prefix(8))) at \(address)", "family     \(family.displayName)",
            "trust      \(trust.rawValue)\(howProven)",
            "reachable  " + (reachable ? "yes" : "no: \(problem ?? "")"),
        ]
        if let service { lines.append("service    \(service)\(version.map { " \($0)" } ?? "")") }
        if let generation { lines.append("generation \(generation)") }
        if let signedIn { lines.append("signed in  \(signedIn ? "yes" : "no")") }
        if reachable, family == .copilotforge {
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

    private var howProven: String {
        if trust == .verified { return " (TLS, both sides proven)" }
        if tls == true { return " (TLS, with the key that you trusted; nothing proven)" }
        return family.speaksHTTP ? " (plain HTTP, nothing proven)" : " (no encryption, nothing proven)"
    }

    /// Why the host cannot be used now.
    var failure: CommandError? {
        if !connected {
            return CommandError(
                .notPaired,
                "host.not_paired",
                "\(name) is not connected to this device",
                next: "pairtool pair"
            )
        }
        guard signedIn == false else { return nil }
        return CommandError(
            .hostUnavailable,
            "host.host_signed_out",
            "the assistant's account is not signed in on \(name)",
            next: "sign in to Copilot in the app on the host"
        )
    }

    static func == (left: HostStatusReport, right: HostStatusReport) -> Bool {
        // The clock's offset wavers by a second, and the time of the last contact changes with every look.
        left.reachable == right.reachable && left.connected == right.connected && left.signedIn == right.signedIn
            && left.connectedDevice?.id == right.connectedDevice?.id && left.version == right.version
            && left.problem == right.problem && left.permissions == right.permissions
            && left.expiresAt == right.expiresAt && left.address == right.address && left.generation == right.generation
    }
}
