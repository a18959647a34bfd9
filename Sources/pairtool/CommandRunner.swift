import ArgumentParser
import CompanionApp
import CompanionWire
import Identity
import LocalState
import PairingAgent
import Terminal

/// Parses a command line, runs the command and reports how it ended.
enum CommandRunner {
    /// - Parameter arguments: The arguments after the program's name.
    static func run(_ arguments: [String]) async -> ExitStatus {
        let context = TerminalContext.current
        let format = format(arguments)
        let words: CommandWords
        do {
            words = try CommandWords(arguments)
        } catch {
            return Output(context: context, format: format).status(after: error)
        }
        do {
            var command = try await Pairtool.asyncParseAsRoot(words.words)
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
            return .done
        } catch {
            let output = Output(context: context, format: format)
            if let status = await parserOutcome(error, in: words, on: output) { return status }
            return output.status(after: error)
        }
    }

    private static func helpPage(of words: CommandWords, on output: Output) async -> HelpPage {
        var page = HelpPage(command: words.command, hasAll: words.wantsAll)
        guard page.isFirst else { return page }
        let paired = (try? PairedHostStore(directory: output.context.paths.data).load())?.hosts ?? []
        var known = Set(paired.map(\.family))
        // A person at a terminal may see a host before pairing with it.
        if output.context.stdoutIsTerminal {
            known.formUnion(await DiscoverySnapshot.familiesKnown(to: output.environment()))
        }
        page.unused = Set(HostFamily.allCases.filter { !known.contains($0) }.map(\.rawValue))
        return page
    }

    /// The output format to use if the arguments cannot be parsed.
    private static func format(_ arguments: [String]) -> OutputFormat {
        let options = Set(arguments.prefix { $0 != "--" })
        if !options.isDisjoint(with: ["--json"]) { return .json }
        return options.isDisjoint(with: ["-q", "--quiet"]) ? .text : .quiet
    }

    /// Shows the output of the argument parser: help, version, completions, usage errors.
    ///
    /// - Returns: nil if the error does not come from the parser.
    private static func parserOutcome(_ error: any Error, in words: CommandWords, on output: Output) async
        -> ExitStatus?
    {
        switch Pairtool.exitCode(for: error) {
        case .success:
            let message = Pairtool.fullMessage(for: error)
            let isHelp = message.begins(with: "OVERVIEW: ")
            let text =
                isHelp ? await helpPage(of: words, on: output).text : CompletionScript.readable(message)
            if !text.isEmpty { output.context.stdout.write(text + "\n") }
            return .done
        case .validationFailure:
            let help = (["pairtool"] + words.path + ["--help"]).joined(separator: " ")
            output.report(AppError(.usage, "usage", UsageError.sentence(of: error, in: words.command), next: help))
            return .usage
        default:
            return nil
        }
    }
}
