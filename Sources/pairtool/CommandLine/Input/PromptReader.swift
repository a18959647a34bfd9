import LineEditor

/// Where an interactive chat gets its prompts from.
protocol PromptReader: Sendable {
    /// The next line; nil at the end of the input.
    ///
    /// - Throws: `CancellationError` when a signal came.
    func next() async throws -> String?
    /// Offers a line again, where lines can be edited.
    func remember(_ line: String)
}

/// Lines as they come, from a pipe or a terminal that cannot be edited on.
struct PlainPromptReader: PromptReader {
    let context: CommandContext

    func next() async throws -> String? {
        if context.canAsk { context.stderr.write(CommandContext.prompt) }
        let input = context.stdin
        return try await BlockingCall.run { try input.readLine(echo: true) }
    }

    func remember(_ line: String) {}
}

/// Lines that are edited at a terminal, with the earlier prompts on Arrow-Up.
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
        // A line of the editor is one line of the terminal, and the peer may have put anything into its history.
        editor.remember(TerminalText.line(line))
    }
}

extension CommandContext {
    /// What stands before a prompt.
    static let prompt = "› "

    /// The reader that fits the terminal.
    func promptReader() -> any PromptReader {
        guard canAsk, editsLines, environment["TERM"] != "dumb" else { return PlainPromptReader(context: self) }
        let descriptor = Interrupts.shared.wakeDescriptor
        guard let editor = LineEditor(prompt: Self.prompt, interruptDescriptor: descriptor) else {
            return PlainPromptReader(context: self)
        }
        return EditingPromptReader(editor: editor)
    }
}
