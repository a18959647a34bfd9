import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct RemoteAppsCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List the applications running on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote apps
              pairtool lumi remote apps --json
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var name: String
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        let rows = try await mac.client.runningApps().map(Row.init)
        output.list(rows, columns: [TableColumn("NAME") { $0.name }], id: \.name)
    }
}

struct RemoteOpenCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an application or a web page on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote open Safari
              pairtool lumi remote open https://swift.org
            """
    )

    @Argument(
        help: "An application's name, or an address that begins with http:// or https://.",
        transform: Self.request
    )
    var what: LumiRequest

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(what, output: output)
    }

    @Sendable private static func request(_ text: String) throws -> LumiRequest {
        text.has(":") ? .open(try LumiURL(text)) : .open(try LumiAppName(text))
    }
}

struct RemoteQuitCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Quit an application on the Mac.",
        discussion: """
            Examples:
              pairtool lumi remote quit Safari
              pairtool lumi remote quit Safari --host Studio
            """
    )

    @Argument(
        help: "The application's name, as `pairtool lumi remote apps` lists it.",
        transform: { try LumiAppName($0) }
    )
    var name: LumiAppName

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(.quit(name), output: output)
    }
}

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

    mutating func prepare(for host: PairedHost) async throws {
        script = try await RemoteInput.text(script, context: options.output.context)
        try await confirm(LumiScript(script), what: "AppleScript", on: host, isConfirmed: yes)
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(.appleScript(LumiScript(script)), output: output)
    }
}

struct RemoteShellCommand: RemoteSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run a shell command on the Mac and show its output.",
        discussion: """
            The Mac returns output and errors as one text, and no exit status. Keep the output under 64 KiB: more \
            makes the app on the Mac hang.

            Examples:
              pairtool lumi remote shell uptime
              pairtool lumi remote shell --yes - < script.sh
            """
    )

    @Argument(help: "The command; - for standard input. Several words are joined with spaces.")
    var command: [String]

    @Flag(help: "Do not ask first.")
    var yes = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    mutating func prepare(for host: PairedHost) async throws {
        command = [try await RemoteInput.text(command.joined(separator: " "), context: options.output.context)]
        try await confirm(LumiScript(command[0]), what: "shell command", on: host, isConfirmed: yes)
    }

    func run(on mac: RemoteMac, output: Output) async throws {
        try await mac.perform(.shell(LumiScript(command[0])), output: output)
    }
}

extension RemoteSubcommand {
    /// Asks the user to confirm a script, which can do anything on the Mac.
    fileprivate func confirm(_ script: LumiScript, what: String, on host: PairedHost, isConfirmed: Bool) async throws {
        guard !isConfirmed else { return }
        let context = options.output.context
        guard context.canAsk else {
            throw AppError(
                .usage,
                "remote.unconfirmed",
                "a \(what) can do anything on \(host.name), and there is no terminal to confirm it; nothing was sent",
                next: "confirm it with --yes"
            )
        }
        let question = "Run this \(what) on \(TerminalText.line(host.name))?\n\n\(script.text)\n\n"
        guard try await TerminalInteraction(output: options.output).confirm(question) else {
            throw AppError(.failed, "remote.unconfirmed", "not confirmed; nothing was sent")
        }
    }
}
