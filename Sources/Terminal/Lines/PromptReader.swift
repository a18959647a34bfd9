import CompanionWire
import LineEditor
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
        return try await BlockingCall.run { try input.readLine() }
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
struct ReleasedInput: InputSource {
    let input: any InputSource
    let editor: LineEditor

    func readAll(limit: Int) throws -> [UInt8]? {
        try editor.released { try input.readAll(limit: limit) }
    }

    func readSome() throws -> [UInt8]? {
        try editor.released { try input.readSome() }
    }

    func readLine() throws -> String? {
        try editor.released { try input.readLine() }
    }

    func readSecret(_ question: () -> Void) throws -> String? {
        try editor.released { try input.readSecret(question) }
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
