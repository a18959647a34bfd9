import ArgumentParser
import CompanionApp
import CompanionWire
import FoundationEssentials
import PairingAgent

/// How a command writes its data.
enum OutputFormat: Sendable {
    case text
    /// One JSON object per line.
    case json
    /// Ids only, one per line.
    case quiet
}

/// Writes a command's data to standard output and its messages to standard error.
struct Output: Sendable {
    var context: CommandContext
    let format: OutputFormat
    /// Whether Markdown is passed on as it is, even to a terminal.
    var isPlain = false

    init(context: CommandContext, format: OutputFormat) {
        (self.context, self.format) = (context, format)
    }

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
        report(failure)
        return ExitStatus(failure.kind)
    }

    /// Writes a list in the requested format.
    ///
    /// - Parameter source: Who told the items: rows in JSON say so. Default: the host.
    func list<Item: Encodable & Sendable>(
        _ items: [Item],
        columns: [TableColumn<Item>],
        from source: AnswerSource = .host,
        id: (Item) -> String
    ) {
        switch format {
        case .text: table(items, columns: columns)
        case .json: jsonLines(items, from: source)
        case .quiet: context.stdout.write(items.map { TerminalText.line(id($0)) + "\n" }.joined())
        }
    }

    /// Writes one result in the requested format.
    func result(_ value: some Encodable, id: String?, text: () -> String) {
        switch format {
        case .text: data(text())
        case .json: json(value)
        case .quiet: if let id { data(TerminalText.line(id)) }
        }
    }

    /// Writes JSON objects, each on a line of its own.
    func jsonLines(_ items: [some Encodable], from source: AnswerSource = .host) {
        // Making an encoder takes longer than what it does for a row.
        let encoder = CompanionJSON.encoder(sorted: true)
        context.stdout.write(
            items.map { item in
                (source == .host
                    ? line(item, with: encoder) : line(SourcedRow(row: item, source: source), with: encoder))
                    ?? ""
            }
            .joined()
        )
    }

    /// Writes a JSON object on a line of its own.
    func json(_ value: some Encodable, from source: AnswerSource = .host) {
        jsonLines([value], from: source)
    }

    /// A row of data, and who told it.
    private struct SourcedRow<Row: Encodable>: Encodable {
        var row: Row
        var source: AnswerSource

        func encode(to encoder: any Encoder) throws {
            try row.encode(to: encoder)
            try source.encode(to: encoder)
        }
    }

    private func line(_ value: some Encodable, with encoder: JSONEncoder) -> String? {
        guard let data = try? encoder.encode(value) else { return nil }
        var line = TerminalText.json(String(decoding: data, as: UTF8.self))
        line += "\n"
        return line
    }

    /// Writes lines of data. The caller sanitises text from peers.
    func data(_ text: String) {
        context.stdout.write(text.ends(with: "\n") ? text : text + "\n")
    }

    /// Wraps data to the width of the terminal, between words.
    ///
    /// - Parameter indent: Columns before the continuation of a wrapped line. Default: 2.
    func fitted(_ text: String, indent: Int = 2) -> String {
        let columns = context.columns
        return IndentedText.of(text, first: 0, indent: indent, columns: columns, keepsWords: true)
    }

    /// Writes a message to standard error; not with `-q`.
    ///
    /// - Parameter indent: Columns before the continuation of a wrapped line. Default: 0.
    func say(_ text: String, indent: Int = 0) {
        guard format != .quiet else { return }
        context.writeMessage(wrapped(TerminalText.block(text), indent: indent) + "\n")
    }

    /// Wraps a message to the width of the terminal, between words.
    private func wrapped(_ text: String, first: Int = 0, indent: Int = 2) -> String {
        let columns = context.stderrIsTerminal ? context.windowSize()?.columns : nil
        return IndentedText.of(text, first: first, indent: indent, columns: columns, keepsWords: true)
    }

    /// The line with the next step. A command is not wrapped, so that it can be copied.
    private func nextLine(_ next: String) -> String {
        let line = "next: \(TerminalText.line(next))"
        return (next.begins(with: "pairtool ") ? "  " + line : wrapped(line, first: 2, indent: 4)) + "\n"
    }

    /// Writes a warning to standard error, also with `-q`: as a sentence or, with `--json`, as an object.
    func warn(_ code: String, _ message: String, next: String? = nil) {
        if format == .json {
            info(WarningReport(warning: .init(code: code, message: message, next: next)))
        } else {
            context.writeMessage(wrapped("pairtool: \(TerminalText.line(message))") + "\n" + (next.map(nextLine) ?? ""))
        }
    }

    /// Writes information that is neither data nor a warning to standard error, as a JSON object.
    func info(_ value: some Encodable) {
        guard let line = line(value, with: CompanionJSON.encoder(sorted: true)) else { return }
        context.writeMessage(line)
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

    private func table<Item>(_ items: [Item], columns: [TableColumn<Item>]) {
        guard !items.isEmpty else { return }
        let width = context.columns
        context.stdout.write(Table.render(items, columns: columns, width: width, colour: context.colour))
    }
}

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object per line (see docs/json.md).")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only ids, or the answer.")
    var quiet = false

    mutating func validate() throws {
        if json, quiet { throw ValidationError("--json and --quiet cannot be used together.") }
    }

    var output: Output {
        Output(context: .current, format: json ? .json : quiet ? .quiet : .text)
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

extension AnswerSource: Encodable {
    private enum CodingKeys: String, CodingKey {
        case source, asOf
    }

    /// Nothing for the host itself; else that it did not answer, and the time since when this is known.
    package func encode(to encoder: any Encoder) throws {
        guard case .history(let asOf) = self else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("cache", forKey: .source)
        try container.encodeIfPresent(asOf, forKey: .asOf)
    }
}
