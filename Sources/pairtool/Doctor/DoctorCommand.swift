import ArgumentParser
import CompanionApp
import CompanionWire
import Doctor
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
        let environment = output.environment(discovery.choice)
        let checks = try DoctorChecks(environment: environment).of(host)
        let findings = try await CheckRunner(checks: checks).run(report: output.show)
        if let draft, let report {
            let text = try await DoctorReport.collect(findings, environment: environment, version: Version.text).text
            try await BlockingCall.run {
                try draft.write(text)
                try draft.finish()
            }
            output.say("Wrote the report to \(report), which only you can read. Nothing was sent.")
        }
        guard let total = findings.total else { return output.say("No problems found.") }
        if output.format != .json { output.say(total + ".") }
        throw output.ended(by: AppError(.failed, "doctor.not_well", total))
    }
}
