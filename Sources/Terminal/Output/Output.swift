import CompanionWire
import FoundationEssentials

/// How a program writes its data.
package enum OutputFormat: Sendable {
    case text
    /// One JSON object per line.
    case json
    /// Ids only, one per line.
    case quiet
}

/// Writes a program's data to standard output and its messages to standard error.
package struct Output: Sendable {
    /// The streams to write to, and their terminal.
    package var context: TerminalContext
    package let format: OutputFormat
    /// Whether Markdown is passed on as it is, even to a terminal.
    package var isPlain = false

    package init(context: TerminalContext, format: OutputFormat) {
        (self.context, self.format) = (context, format)
    }

    /// Writes a list in the requested format.
    ///
    /// - Parameter id: The id of an item, sanitised here.
    package func list<Item: Encodable>(_ items: [Item], columns: [TableColumn<Item>], id: (Item) -> String) {
        switch format {
        case .text: table(items, columns: columns)
        case .json: jsonLines(items)
        case .quiet: context.stdout.write(items.map { TerminalText.line(id($0)) + "\n" }.joined())
        }
    }

    /// Writes one result in the requested format.
    package func result(_ value: some Encodable, id: String?, text: () -> String) {
        switch format {
        case .text: data(text())
        case .json: json(value)
        case .quiet: if let id { data(TerminalText.line(id)) }
        }
    }

    /// Writes JSON objects, each on a line of its own.
    package func jsonLines(_ items: [some Encodable]) {
        // Making an encoder takes longer than what it does for a row.
        let encoder = CompanionJSON.encoder(sorted: true)
        context.stdout.write(items.map { line($0, with: encoder) ?? "" }.joined())
    }

    /// Writes a JSON object on a line of its own.
    package func json(_ value: some Encodable) {
        jsonLines([value])
    }

    private func line(_ value: some Encodable, with encoder: JSONEncoder) -> String? {
        guard let data = try? encoder.encode(value) else { return nil }
        var line = TerminalText.json(String(decoding: data, as: UTF8.self))
        line += "\n"
        return line
    }

    /// Writes lines of data. The caller sanitises text from peers.
    package func data(_ text: String) {
        context.stdout.write(text.ends(with: "\n") ? text : text + "\n")
    }

    /// Wraps data to the width of the terminal, between words.
    ///
    /// - Parameter indent: Columns before the continuation of a wrapped line. Default: 2.
    package func fitted(_ text: String, indent: Int = 2) -> String {
        let columns = context.columns
        return IndentedText.of(text, first: 0, indent: indent, columns: columns, keepsWords: true)
    }

    /// Facts, wrapped to the width of the terminal.
    package func fitted(_ facts: FactList) -> String {
        facts.text(columns: context.columns)
    }

    /// Writes a message to standard error; not with `-q`.
    ///
    /// - Parameter indent: Columns before the continuation of a wrapped line. Default: 0.
    package func say(_ text: String, indent: Int = 0) {
        guard format != .quiet else { return }
        context.writeMessage(wrapped(TerminalText.block(text), indent: indent) + "\n")
    }

    /// Wraps a message to the width of the terminal, between words.
    package func wrapped(_ text: String, first: Int = 0, indent: Int = 2) -> String {
        let columns = context.stderrIsTerminal ? context.windowSize()?.columns : nil
        return IndentedText.of(text, first: first, indent: indent, columns: columns, keepsWords: true)
    }

    /// Writes information that is neither data nor a warning to standard error, as a JSON object.
    package func info(_ value: some Encodable) {
        guard let line = line(value, with: CompanionJSON.encoder(sorted: true)) else { return }
        context.writeMessage(line)
    }

    private func table<Item>(_ items: [Item], columns: [TableColumn<Item>]) {
        guard !items.isEmpty else { return }
        let width = context.columns
        context.stdout.write(Table.render(items, columns: columns, width: width, colour: context.colour))
    }
}
