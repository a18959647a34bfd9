import CompanionApp
import CompanionWire
import PairingAgent
import Terminal

extension Output {
    /// Reports the error that ended a command.
    ///
    /// - Returns: The exit status.
    func status(after error: any Error) -> ExitStatus {
        if let request = error as? ExitRequest { return request.status }
        guard !(error is CancellationError), !Task.isCancelled else {
            if context.stderrIsTerminal { context.stderr.write("\n") }
            return .interrupted
        }
        let failure = AppError(describing: error)
        if failure.kind == .emptyList { sayEmpty(failure) } else { report(failure) }
        return ExitStatus(failure.kind)
    }

    /// Says why a list has no rows, also with `--json`; not with `-q`.
    private func sayEmpty(_ list: AppError) {
        say(TerminalText.line("\(list.message).\(list.next.map { " Next: \($0)" } ?? "")"))
    }

    /// Writes a warning to standard error, also with `-q`: as a sentence or, with `--json`, as an object.
    func warn(_ code: String, _ message: String, next: String? = nil) {
        if format == .json {
            info(WarningReport(warning: .init(code: code, message: message, next: next)))
        } else {
            context.writeMessage(wrapped("pairtool: \(TerminalText.line(message))") + "\n" + (next.map(nextLine) ?? ""))
        }
    }

    /// Reports a failure that does not end the command.
    func warn(_ error: AppError) {
        warn(error.code, error.message, next: error.next)
    }

    /// Reports a failure, as a sentence or, with `--json`, as an object.
    func report(_ error: AppError) {
        if format == .json {
            info(ErrorReport(error))
        } else {
            // One line each: a name that contains a line end must not look like a line of pairtool's.
            var text = wrapped("pairtool: \(TerminalText.line(error.message))") + "\n"
            for detail in error.details { text += wrapped(TerminalText.line(detail), first: 2, indent: 4) + "\n" }
            if let next = error.next { text += nextLine(next) }
            context.writeMessage(text)
        }
    }

    /// Reports a failure that the data already shows: users get the next step, scripts get the object.
    ///
    /// - Returns: The error that ends the command.
    func ended(by failure: AppError) -> ExitRequest {
        if format == .json { report(failure) } else if let next = failure.next { say("Next: \(next)") }
        return ExitRequest(failure.kind)
    }

    /// The line with the next step. A command is not wrapped, so that it can be copied.
    private func nextLine(_ next: String) -> String {
        let line = "next: \(TerminalText.line(next))"
        return (next.begins(with: "pairtool ") ? "  " + line : wrapped(line, first: 2, indent: 4)) + "\n"
    }
}

extension FileSink {
    /// Reports lost output on standard error, even if the command failed for another reason.
    ///
    /// - Returns: The exit status: `failed` if output was lost, unless the command was interrupted.
    static func end(_ status: ExitStatus, json: Bool) -> ExitStatus {
        guard let reason = lossOfOutput else { return status }
        Output(context: .process, format: json ? .json : .text).report(
            AppError(.failed, "output.lost", "the output could not be written: \(reason)")
        )
        return status == .interrupted ? status : .failed
    }
}
