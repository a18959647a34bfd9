import ArgumentParser
import CompanionWire
import Doctor
import FoundationEssentials
import LocalState

struct DiagnosticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnostics",
        abstract: "Collect what helps to find a fault, without names, addresses and secrets.",
        discussion: """
            Shows versions, settings, the findings of `pairtool doctor`, how requests to hosts went in the last hour, \
            and which commands failed. Hosts, projects and interfaces appear as host-1, project-1 and interface-1, \
            everything else that could name somebody as “…”. Nothing is sent anywhere: read it, then attach it to a \
            report.

            Examples:
              pairtool diagnostics
              pairtool diagnostics -o diagnostics.txt
              pairtool diagnostics --json -o diagnostics.json --yes
            """
    )

    @Option(name: .shortAndLong, help: "Save it in this file (mode 0600), after showing it.", completion: .file())
    var output: String?

    @Flag(help: "Save it without asking.")
    var yes = false

    @OptionGroup(title: "Discovery options") var discovery: DiscoveryOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if yes, output == nil { throw ValidationError("--yes needs a file: -o FILE.") }
        if output != nil, options.quiet {
            throw ValidationError("-q and -o cannot be used together: the report is always shown before it is saved.")
        }
    }

    func run() async throws {
        let screen = options.output
        let context = screen.context
        if let output, !yes, !context.canAsk {
            throw CommandError(
                .usage,
                "diagnostics.unconfirmed",
                "there is no terminal to ask whether to save it in \(output)",
                next: "save it without asking: pairtool diagnostics -o FILE --yes"
            )
        }
        if screen.format == .text { screen.say("Running the checks of pairtool doctor …") }
        let checks = try DoctorCommand.checks(of: nil, discovery, screen)
        let findings = try await CheckRunner(checks: checks).run()
        let report = try await DiagnosticsReport.collect(findings, screen)
        var content = report.text
        if screen.format == .json {
            let data = try CompanionJSON.encoder(sorted: true).encode(report)
            content = TerminalText.json(String(decoding: data, as: UTF8.self)) + "\n"
        }
        if screen.format != .quiet {
            try await Pager.with(screen, isWanted: true) { output, _ in output.context.stdout.write(content) }
        }
        guard let output else { return }
        if !yes {
            let question = "Save this in \(TerminalText.line(output))?"
            guard try await Question(context: context).confirm(question) else {
                return screen.say("Nothing was saved.")
            }
        }
        let bytes = Array(content.utf8)
        _ = try await BlockingCall.run { try bytes.withUnsafeBytes { try OutputFile.write($0, to: output) } }
        screen.say("Saved in \(output), which only you can read.")
    }
}
