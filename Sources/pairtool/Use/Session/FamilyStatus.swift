import CompanionClient
import CompanionWire
import PairingAgent

extension HostOptions {
    /// The record of the selected host, if it is not of the family CopilotForge.
    func otherFamily(_ options: OutputOptions) throws -> PairedHost? {
        let context = options.output.context
        let hosts = try PairedHostStore(directory: context.paths.data).load()
        // The lookup that follows reports a word that names no host.
        let selected = try? PairedHostSelection.select(host ?? context.hostVariable, in: hosts)
        guard let selected, selected.family != .copilotforge else { return nil }
        try require?.check(selected)
        return selected
    }
}

/// How a host of another family than CopilotForge's does, once or again and again.
struct FamilyStatus: Sendable {
    let host: PairedHost
    let output: Output

    func run(watches: Bool, every interval: Duration) async throws {
        if watches { return try await HostStatusReport.poll(host, every: interval, read: read, show: show) }
        let report = try await read()
        show(report)
        guard report.connected else {
            throw CommandError(
                .notPaired,
                "host.not_paired",
                "\(host.name) does not take this device's token any more",
                next: "look it up at the host, then: pairtool pair --family \(host.family.rawValue) --url \(host.url)"
            )
        }
        if let trouble = report.problem {
            let failure = CommandError(
                .hostUnavailable,
                "host.not_well",
                "\(host.name) says that it is not well: \(trouble)"
            )
            if output.format != .json { output.say(TerminalText.line(failure.message)) }
            throw output.ended(by: failure)
        }
        if report.signedIn == false {
            throw output.ended(
                by: CommandError(
                    .hostUnavailable,
                    "host.no_assistant",
                    "the assistant's program does not answer on \(host.name)",
                    next: "install or start the assistant's program on \(TerminalText.line(host.name))."
                )
            )
        }
    }

    private func read() async throws -> HostStatusReport {
        let health = try await FamilyHealth.ask(host, context: output.context)
        var report = HostStatusReport(host, problem: health.trouble)
        report.address = health.place
        report.reachable = true
        report.connected = health.takesToken != false
        report.service = health.service
        report.version = health.version
        report.generation = health.generation
        report.signedIn = health.hasAssistant
        return report
    }

    private func show(_ report: HostStatusReport) {
        output.result(report, id: report.id) { output.fitted(report.text, indent: 11) }
    }
}
