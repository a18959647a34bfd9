import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import DBus
import Discovery
import Doctor
import Identity
import LocalState
import PairingAgent
import Terminal

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why a host is not found or does not answer.",
        discussion: """
            Checks mDNS, the network, the paired hosts and pairtool's own files, and advises what to do. Changes \
            nothing. Exits with 0 if there is no problem and no warning, otherwise with 1.

            Examples:
              pairtool doctor
              pairtool doctor --host Studio --json
              pairtool doctor --report report.json
            """
    )

    @Option(
        help: "Check this paired host only, by name or id prefix. Default: all.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @Option(
        help: ArgumentHelp(
            """
            Also write versions, settings, verdicts and counts to this file (mode 0600), to attach to a bug report. It \
            contains no names, addresses or texts.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var report: String?

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        // A file that cannot be written is reported before the checks, which take seconds.
        let draft = try await BlockingCall.run { [report] in try report.map { try OutputDraft($0) } }
        let checks = try Self.checks(of: host, by: discovery, on: output)
        let findings = try await CheckRunner(checks: checks).run { show($0, on: output) }
        if let draft, let report {
            let text = try await DoctorReport.collect(findings, context: output.context).text
            try await BlockingCall.run {
                try draft.write(text)
                try draft.finish()
            }
            output.say("Wrote the report to \(report), which only you can read. Nothing was sent.")
        }
        guard findings.contains(where: \.verdict.fails) else { return output.say("No problems found.") }
        let (problems, warnings) = (count(.problem, in: findings), count(.warning, in: findings))
        let total = "\(amount(problems, of: "problem")), \(amount(warnings, of: "warning"))"
        if output.format != .json { output.say(total + ".") }
        throw output.ended(by: AppError(.failed, "doctor.not_well", total))
    }

    /// All checks.
    ///
    /// - Parameter host: The only host to check; nil for all.
    static func checks(
        of host: String?,
        by discovery: DiscoveryOptions,
        on output: Output
    ) throws -> [any DoctorCheck] {
        let environment = output.environment(discovery.choice)
        let client = try environment.discoveryClient()
        // A mistyped interface name is a usage error, not a network problem.
        try client.checkInterface()
        let only = environment.discoveryInterface
        let hosts = try hosts(host, on: output, with: client)
        return [
            EngineCheck(
                choice: try environment.discoveryEngine,
                client: client,
                bus: .system(environment: environment.variables)
            ),
            PortCheck(), InterfaceCheck(only: only), FirewallCheck(), MulticastCheck(only: only),
            AdvertCheck(hasPairedHosts: !hosts.isEmpty) {
                try await DiscoverySnapshot.run(
                    client: client,
                    types: ServiceType.all,
                    limit: .seconds(5),
                    until: \.isSettled
                ).hosts
            },
        ] + (hosts.isEmpty ? [NoHostCheck()] : hosts) + [
            FileCheck(
                directory: environment.paths.data,
                families: HostFamily.allCases.compactMap { $0.behavior.facts.files }
            ),
            CameraCheck(), PictureCheck(),
            DiskCheck(directories: [environment.paths.data, environment.paths.state, environment.paths.runtime]),
            ProcessCheck(),
        ]
    }

    /// One check for each paired host that was selected.
    private static func hosts(
        _ host: String?,
        on output: Output,
        with client: CompanionDiscoveryClient
    ) throws -> [any DoctorCheck] {
        let store = PairedHostStore(directory: output.context.paths.data)
        if let host {
            return [check(try PairedHostSelection.select(host, in: try store.load()), on: output, with: client)]
        }
        // ``FileCheck`` reports records that cannot be read.
        guard let hosts = (try? store.load())?.hosts else { return [NoHostCheck(areUnreadable: true)] }
        return hosts.map { check($0, on: output, with: client) }
    }

    private static func check(_ host: PairedHost, on output: Output, with client: CompanionDiscoveryClient) -> HostCheck
    {
        let family = host.family.behavior.facts
        return HostCheck(
            host: host,
            isAdvertised: family.isAdvertised,
            usesToken: family.codes.contains(.token),
            ask: { try await health(of: host, on: output) },
            lookElsewhere: { try await advertisedPlace(of: host, with: client) }
        )
    }

    private static func health(of host: PairedHost, on output: Output) async throws -> HostHealth {
        let timeouts = CompanionClientConfiguration.Timeouts(connect: .seconds(2), request: .seconds(4))
        do {
            return try await host.family.behavior.health(
                of: host,
                environment: output.environment(),
                timeouts: timeouts
            )
        } catch let error as AppError {
            throw HostCheck.UnusableRecord(error.message)
        }
    }

    /// The host's new address according to advertisements; nil if they contain none. The address is not contacted.
    private static func advertisedPlace(
        of host: PairedHost,
        with client: CompanionDiscoveryClient
    ) async throws -> CompanionEndpoint? {
        let types = host.family.behavior.facts.followedTypes
        guard !types.isEmpty else { return nil }
        let snapshot = try await DiscoverySnapshot.run(client: client, types: types, limit: .seconds(3)) { snapshot in
            snapshot.isSettled || snapshot.hosts.contains { $0.advertisedID == host.id && !$0.endpoints.isEmpty }
        }
        return snapshot.hosts.filter { $0.advertisedID == host.id }.flatMap(\.endpoints).map(\.endpoint)
            .first { !host.covers($0) }
    }

    private func show(_ finding: Finding, on output: Output) {
        switch output.format {
        case .text:
            let columns = output.context.columns
            output.data(finding.text(colour: output.context.colour, columns: columns))
        case .json: output.json(finding)
        case .quiet: if finding.verdict.fails { output.data(finding.check.rawValue) }
        }
    }

    private func count(_ verdict: Verdict, in findings: [Finding]) -> Int {
        findings.count { $0.verdict == verdict }
    }

    private func amount(_ count: Int, of word: String) -> String {
        "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}
