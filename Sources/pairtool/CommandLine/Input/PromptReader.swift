import CompanionWire
import LineEditor

/// The source of an interactive chat's prompts.
protocol PromptReader: Sendable {
    /// The next line; nil at the end of the input.
    ///
    /// - Throws: `CancellationError` when a signal arrives.
    func next() async throws -> String?
    /// Adds a line to the history, if lines can be edited.
    func remember(_ line: String)
}

/// Reads unedited lines, from a pipe or a terminal without line editing.
struct PlainPromptReader: PromptReader {
    let context: CommandContext

    func next() async throws -> String? {
        if context.canAsk { context.stderr.write(CommandContext.prompt) }
        let input = context.stdin
        return try await BlockingCall.run { try input.readLine(echo: true) }
    }

    func remember(_ line: String) {}
}

/// Reads lines that are edited at a terminal, with the earlier prompts on Arrow-Up.
struct EditingPromptReader: PromptReader {
    let editor: LineEditor

    func next() async throws -> String? {
        switch await editor.readLine() {
        case .line(let line): line
        case .end: nil
        case .interrupted: throw CancellationError()
        }
    }

    func remember(_ line: String) {
        // The editor needs a single line without control characters, and the peer may have put anything into its
        // history.
        editor.remember(TerminalText.line(line))
    }
}

extension CommandContext {
    /// The text before the user's input.
    static let prompt = "› "

    /// The reader that suits the terminal.
    func promptReader() -> any PromptReader {
        guard canAsk, editsLines, environment["TERM"] != "dumb" else { return PlainPromptReader(context: self) }
        let descriptor = Interrupts.shared.wakeDescriptor
        guard let editor = LineEditor(prompt: Self.prompt, interruptDescriptor: descriptor) else {
            return PlainPromptReader(context: self)
        }
        return EditingPromptReader(editor: editor)
    }
}
