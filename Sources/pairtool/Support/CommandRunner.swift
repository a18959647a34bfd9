import ArgumentParser

/// Parses a command line, runs the command and says how it ended.
enum CommandRunner {
    /// - Parameter arguments: The words behind the program's name.
    static func run(_ arguments: [String]) async -> ExitStatus {
        let context = CommandContext.current
        do {
            var command = try await Pairtool.asyncParseAsRoot(arguments)
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
            return .done
        } catch {
            let json = arguments.contains("--json")
            if let status = parserOutcome(error, context: context, json: json) { return status }
            return Output(context: context, format: json ? .json : .text).status(after: error)
        }
    }

    /// Shows what the argument parser has to say (help, version, completions, mistakes in the command line).
    ///
    /// - Returns: nil where the error is not the parser's.
    private static func parserOutcome(_ error: any Error, context: CommandContext, json: Bool) -> ExitStatus? {
        let code = Pairtool.exitCode(for: error)
        let message = Pairtool.fullMessage(for: error)
        switch code {
        case .success:
            if !message.isEmpty { context.stdout.write(message + "\n") }
            return .done
        case .validationFailure:
            if json {
                let text = Pairtool.message(for: error)
                Output(context: context, format: .json).report(
                    CommandError(.usage, "usage", text, next: "pairtool --help")
                )
            } else {
                // It quotes the command line, which others may have had a hand in.
                context.stderr.write(TerminalText.block(message) + "\n")
            }
            return .usage
        default:
            return nil
        }
    }
}
