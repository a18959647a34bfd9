import ArgumentParser
import CompanionWire
import FoundationEssentials

/// How a command writes its data.
enum OutputFormat: Sendable {
    case text
    /// One JSON object a line.
    case json
    /// Ids only, one a line.
    case quiet
}

/// Writes a command's data to standard output and its messages to standard error.
struct Output: Sendable {
    let context: CommandContext
    let format: OutputFormat

    /// Reports the error that ended a command.
    ///
    /// - Returns: How the program is to end.
    func status(after error: any Error) -> ExitStatus {
        if let request = error as? ExitRequest { return request.status }
        guard !(error is CancellationError), !Task.isCancelled else {
            if context.stderrIsTerminal { context.stderr.write("\n") }
            return .interrupted
        }
        let failure = CommandError(describing: error)
        report(failure)
        return failure.status
    }

    /// Writes a list in the format that was asked for.
    func list<Item: Encodable>(
        _ items: [Item],
        columns: [TableColumn<Item>],
        id: (Item) -> String
    ) {
        switch format {
        case .text: table(items, columns: columns)
        case .json: context.stdout.write(items.compactMap(line).joined())
        case .quiet: items.forEach { context.stdout.write(TerminalText.line(id($0)) + "\n") }
        }
    }

    /// Writes one result in the format that was asked for.
    func result(_ value: some Encodable, id: String?, text: () -> String) {
        switch format {
        case .text: data(text())
        case .json: json(value)
        case .quiet: if let id { data(TerminalText.line(id)) }
        }
    }

    /// A JSON object on a line of its own.
    func json(_ value: some Encodable) {
        guard let line = line(value) else { return }
        context.stdout.write(line)
    }

    private func line(_ value: some Encodable) -> String? {
        guard let data = try? CompanionJSON.encoder(sorted: true).encode(value) else { return nil }
        return TerminalText.json(String(decoding: data, as: UTF8.self)) + "\n"
    }

    /// Lines of data; what came from peers must have been sanitised.
    func data(_ text: String) {
        context.stdout.write(text.ends(with: "\n") ? text : text + "\n")
    }

    /// Lines of data as they fit a terminal: broken between words.
    ///
    /// - Parameter indent: Columns before the rest of a line that is broken.
    func fitted(_ text: String, indent: Int = 2) -> String {
        let columns = context.stdoutIsTerminal ? context.windowSize()?.columns : nil
        return IndentedText.of(text, first: 0, indent: indent, columns: columns, keepsWords: true)
    }

    /// A message for people, on standard error; not with `-q`.
    func say(_ text: String) {
        guard format != .quiet else { return }
        context.stderr.write(wrapped(TerminalText.block(text), indent: 0) + "\n")
    }

    /// A message as it fits a terminal: broken between words.
    private func wrapped(_ text: String, first: Int = 0, indent: Int = 2) -> String {
        let columns = context.stderrIsTerminal ? context.windowSize()?.columns : nil
        return IndentedText.of(text, first: first, indent: indent, columns: columns, keepsWords: true)
    }

    /// The next step. A command stays in one piece, which can be copied.
    private func nextLine(_ next: String) -> String {
        let line = "next: \(TerminalText.line(next))"
        return (next.begins(with: "pairtool ") ? "  " + line : wrapped(line, first: 2, indent: 4)) + "\n"
    }

    /// A warning, on standard error, also with `-q`: as a sentence or, with `--json`, as an object.
    func warn(_ code: String, _ message: String, next: String? = nil) {
        if format == .json {
            info(WarningReport(warning: .init(code: code, message: message, next: next)))
        } else {
            context.stderr.write(wrapped(TerminalText.line(message)) + "\n" + (next.map(nextLine) ?? ""))
        }
    }

    /// Information that is neither data nor a warning, on standard error: a JSON object.
    func info(_ value: some Encodable) {
        guard let line = line(value) else { return }
        context.stderr.write(line)
    }

    /// A failure that does not end the command.
    func warn(_ error: CommandError) {
        warn(error.code, error.message, next: error.next)
    }

    /// A failure, as a sentence or, with `--json`, as an object.
    func report(_ error: CommandError) {
        if format == .json {
            info(ErrorReport(error))
        } else {
            // A line each: a name with a line end in it must not pass for a line of ours.
            var text = wrapped("pairtool: \(TerminalText.line(error.message))") + "\n"
            for detail in error.details { text += wrapped(TerminalText.line(detail), first: 2, indent: 4) + "\n" }
            if let next = error.next { text += nextLine(next) }
            context.stderr.write(text)
        }
    }

    /// Reports a failure that the data already shows: people get the next step, scripts get the object.
    ///
    /// - Returns: What ends the command.
    func ended(by failure: CommandError) -> ExitRequest {
        if format == .json { report(failure) } else if let next = failure.next { say("Next: \(next)") }
        return ExitRequest(status: failure.status)
    }

    private func table<Item>(_ items: [Item], columns: [TableColumn<Item>]) {
        guard !items.isEmpty else { return }
        let width = context.stdoutIsTerminal ? context.windowSize()?.columns : nil
        context.stdout.write(Table.render(items, columns: columns, width: width, colour: context.colour))
    }
}

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line (see docs/json.md).")
    var json = false

    @Flag(name: .shortAndLong, help: "Print ids only.")
    var quiet = false

    mutating func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet cannot be used together.") }
    }

    /// The output of the running command.
    var output: Output {
        Output(context: .current, format: json ? .json : quiet ? .quiet : .text)
    }
}

extension FileSink {
    /// Says on standard error that output was lost, if it was, whatever else went wrong.
    ///
    /// - Returns: How the program is to end: with `failed` where output was lost, unless it was interrupted.
    static func end(_ status: ExitStatus, json: Bool) -> ExitStatus {
        guard let reason = lossOfOutput else { return status }
        Output(context: .process, format: json ? .json : .text).report(
            CommandError(.failed, "output.lost", "the output could not be written: \(reason)")
        )
        return status == .interrupted ? status : .failed
    }
}
