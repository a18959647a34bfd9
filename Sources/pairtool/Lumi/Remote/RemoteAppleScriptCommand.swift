import ArgumentParser
import CompanionClient

struct RemoteAppleScriptCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "applescript",
        abstract: "Run an AppleScript on the Mac and show its result.",
        discussion: """
            Examples:
              pairtool lumi remote applescript 'return 1 + 1'
              pairtool lumi remote applescript --yes - < script.scpt
            """
    )

    @Argument(help: "The script; - for standard input.")
    var script: String

    @Flag(help: "Do not ask first.")
    var yes = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let text = try await RemoteInput.text(script, context: .current)
        try await run(script: text, what: "AppleScript", isConfirmed: yes) { .appleScript($0) }
    }
}
