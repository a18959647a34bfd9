import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import PairingAgent
import Terminal

struct RemotePromptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompt",
        abstract: "Type commands for the Mac, over one connection.",
        discussion: """
            Each line is a `pairtool lumi remote` command, without these three words. Ctrl-D ends the connection. From \
            a pipe, the first command that fails ends it, too.

            Examples:
              pairtool lumi remote
              pairtool lumi remote prompt < commands.txt
            """
    )

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let (prompts, context) = TerminalContext.current.promptReader(
            keepsHistory: false,
            hint: "(Ctrl-D ends the connection)",
            completer: nil
        )
        defer { prompts.close() }
        // Commands that ask the user share the terminal with the prompt.
        try await TerminalContext.$current.withValue(context) {
            try await host.selector.withMac(options.environment, for: "remote commands") { mac in
                if context.canAsk { options.output.say("help lists the commands. Ctrl-D ends the connection.") }
                while let line = try await prompts.next(nil) {
                    await prompts.remember(line, isKept: false)
                    do {
                        try await obey(line, on: mac)
                    } catch  where context.canAsk && !error.endsConnection {
                        if !(error is ExitRequest) { options.output.report(AppError(describing: error)) }
                    }
                }
            }
        }
    }

    /// Runs the command that a line has.
    private func obey(_ line: String, on mac: RemoteMac) async throws {
        guard var words = ShellWords.split(line) else {
            throw AppError(.usage, "usage", "a quotation mark is not closed")
        }
        guard !words.isEmpty else { return }
        if words[0].isSame(as: "help") { words = words.dropFirst() + ["--help"] }
        if ["--help", "-h"].contains(where: words[words.count - 1].isSame) {
            let named = RemoteCommand.configuration.subcommands.first {
                $0.configuration.commandName?.isSame(as: words[0]) == true
            }
            return options.output.data(Pairtool.helpMessage(for: named ?? RemoteCommand.self))
        }
        let parsed = try CommandWords(["lumi", "remote"] + words)
        let found: any ParsableCommand
        do {
            found = try await Pairtool.asyncParseAsRoot(parsed.words)
        } catch {
            guard Pairtool.exitCode(for: error) == .success else {
                throw AppError(.usage, "usage", UsageError.sentence(of: error), next: "help \(words[0])")
            }
            return options.output.data(Pairtool.fullMessage(for: error))
        }
        guard var command = found as? any RemoteSubcommand, command.host.host == nil else {
            throw AppError(.usage, "usage", "the connection is to \(mac.host.name)", next: "help")
        }
        try await command.prepare(for: mac.host)
        let output = options.json || options.quiet ? options.output : command.options.output
        try await command.run(on: mac, output: output)
    }
}

extension Error {
    /// Whether nothing more can be sent after it.
    fileprivate var endsConnection: Bool {
        guard let error = self as? CompanionClientError else { return self is CancellationError }
        return error.code == .unreachable || error.code == .streamInterrupted
    }
}
