import CompanionWire
package import LineEditor
import LocalState

/// The source of the prompts that a user types.
package protocol PromptReader: Sendable {
    /// The next prompt, which may have several lines; nil at the end of the input.
    ///
    /// - Parameter text: The text to begin with, which the user can change and send. Nil: the text that they typed
    ///   before stays.
    /// - Throws: `CancellationError` when a signal arrives.
    func next(_ text: String?) async throws -> String?
    /// Adds a prompt to the history, if prompts can be edited.
    ///
    /// - Parameter isKept: Whether later sessions get it too. Default: true.
    func remember(_ prompt: String, isKept: Bool) async
    /// Lets the user change a text in an editor.
    ///
    /// - Throws: ``TextEditor/Failure``: there is no terminal, or the editor fails.
    func edit(_ text: String) async throws -> String
    /// Gives the terminal back.
    func close()
}

extension PromptReader {
    package func remember(_ prompt: String) async { await remember(prompt, isKept: true) }
}

/// Reads unedited lines, from a pipe or a terminal without line editing.
struct PlainPromptReader: PromptReader {
    let context: TerminalContext

    func next(_ text: String?) async throws -> String? {
        if context.canAsk { context.stderr.write(TerminalContext.prompt) }
        let input = context.stdin
        return try await BlockingCall.run { try input.readLine(echo: true) }
    }

    func remember(_ prompt: String, isKept: Bool) {}

    func edit(_ text: String) throws -> String {
        throw TextEditor.Failure.noTerminal
    }

    func close() {}
}

/// Reads prompts that are edited at a terminal, with the earlier ones on Arrow-Up.
struct EditingPromptReader: PromptReader {
    let context: TerminalContext
    let editor: LineEditor
    /// nil if prompts are not kept.
    let history: PromptHistoryFile?
    /// The line that is shown after Ctrl-C in an empty line.
    let hint: String

    func next(_ text: String?) async throws -> String? {
        var text = text
        while true {
            switch await editor.readLine(text) {
            case .line(let line): return line
            case .end: return nil
            case .interrupted: throw CancellationError()
            case .edit(let typed):
                do {
                    text = try await edit(typed)
                } catch  where !(error is CancellationError) {
                    context.stderr.write("pairtool: \(TerminalText.line("\(error)"))\n")
                    text = typed
                }
            case .dropped(let wasEmpty):
                if wasEmpty { context.stderr.write(hint + "\n") }
                text = nil
            }
        }
    }

    func remember(_ prompt: String, isKept: Bool) async {
        // The peer may have put anything into its messages.
        editor.remember(TerminalText.block(prompt))
        guard isKept, let history else { return }
        try? await BlockingCall.run { history.append(prompt) }
    }

    func edit(_ text: String) async throws -> String {
        editor.release()
        defer { editor.hold() }
        return try await TextEditor(context: context).edit(text)
    }

    func close() {
        editor.release()
    }
}

/// Standard input beside an editor that keeps what is typed: the editor leaves it the terminal while it is read.
private struct ReleasedInput: InputSource {
    let input: any InputSource
    let editor: LineEditor

    func readAll(limit: Int) throws -> [UInt8]? {
        try editor.released { try input.readAll(limit: limit) }
    }

    func readSome() throws -> [UInt8]? {
        try editor.released { try input.readSome() }
    }

    func readLine(echo: Bool) throws -> String? {
        try editor.released { try input.readLine(echo: echo) }
    }

    func readAnswer(_ question: () -> Void) throws -> String? {
        try editor.released { try input.readAnswer(question) }
    }

    func readEdited(_ text: String, editor other: () -> LineEditor?) throws -> String? {
        try editor.released { try input.readEdited(text, editor: other) }
    }

    func readKey(ready: () -> Void) throws -> UInt8? {
        try editor.released { try input.readKey(ready: ready) }
    }
}

extension TerminalContext {
    /// The text before the user's input.
    fileprivate static let prompt = "› "

    /// The reader that suits the terminal, and the context for what is done between two prompts.
    ///
    /// - Parameters:
    ///   - keepsHistory: Whether prompts are kept for later sessions.
    ///   - hint: The line that is shown after Ctrl-C in an empty line.
    package func promptReader(
        keepsHistory: Bool,
        hint: String,
        completer: LineEditor.Completer?
    ) -> (reader: any PromptReader, context: TerminalContext) {
        guard canAsk, editsLines, environment["TERM"] != "dumb" else {
            return (PlainPromptReader(context: self), self)
        }
        let history = keepsHistory ? PromptHistoryFile(directory: paths.state) : nil
        let editor = lineEditor(Self.prompt, history: history?.load() ?? [], completer: completer)
        guard let editor else { return (PlainPromptReader(context: self), self) }
        var context = self
        context.stdin = ReleasedInput(input: stdin, editor: editor)
        context.isInFront = { editor.isInFront }
        context.withoutEditor = { editor.released($0) }
        return (EditingPromptReader(context: self, editor: editor, history: history, hint: hint), context)
    }

    /// An editor of lines at the terminal, which has its mode back when the process ends; nil if it cannot be used.
    func lineEditor(
        _ prompt: String,
        history: [String] = [],
        completer: LineEditor.Completer? = nil
    ) -> LineEditor? {
        let editor = LineEditor(
            prompt: prompt,
            history: history,
            reflows: reflows,
            interruptDescriptor: Interrupts.shared.wakeDescriptor,
            rule: { character in
                TerminalText.isUnsafe(String(character))
                    ? Glyph("\u{FFFD}", width: 1) : Glyph(String(character), width: DisplayWidth.of(character))
            },
            completer: completer
        )
        if let editor { ExitCleanup.add { [weak editor] in editor?.restore() } }
        return editor
    }

    /// Whether the terminal breaks rows anew when its window gets narrower. Most do; xterm, rxvt, the Linux console and
    /// screen cut them.
    var reflows: Bool {
        if environment["TMUX"] != nil { return true }
        let terminal = environment["TERM"] ?? ""
        return terminal != "linux" && !terminal.begins(with: "rxvt") && environment["STY"] == nil
            && environment["XTERM_VERSION"] == nil
    }
}
