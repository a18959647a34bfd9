import CompanionWire
import Glibc
package import LineEditor
import LocalState

/// Questions go to standard error, answers come from standard input.
extension TerminalContext {
    /// Asks a yes-or-no question; any answer but yes means no.
    package func confirm(_ question: String) async throws -> Bool {
        let answer = try await drawing.pause {
            try await line(wrapped(TerminalText.block(question) + " [y/N] "))
        }
        // Ctrl-D leaves the cursor behind the question.
        if answer == nil { stderr.write("\n") }
        return ["y", "yes"].contains((answer ?? "").trimmingWhitespace().lowercased())
    }

    /// A question, wrapped between words.
    private func wrapped(_ question: String) -> String {
        IndentedText.of(
            question,
            first: 0,
            indent: 0,
            columns: stderrIsTerminal ? windowSize()?.columns : nil,
            keepsWords: true
        )
    }

    /// Cancelling the task ends the wait for a line.
    private func line(_ question: String) async throws -> String? {
        try await withTaskCancellationHandler {
            try await BlockingCall.run { try stdin.readAnswer { stderr.write(question) } }
        } onCancel: {
            Interrupts.shared.wakeReader()
        }
    }

    /// Asks for a line that the user edits, where the terminal can do that.
    ///
    /// - Parameters:
    ///   - prompt: What stands before the line; sanitised by the caller.
    ///   - text: What is in the line at first.
    /// - Returns: nil at the end of the input.
    /// - Throws: `CancellationError` when the user interrupts, or the task is cancelled.
    package func editedLine(_ prompt: String, text: String) async throws -> String? {
        let canEdit = canAsk && editsLines && environment["TERM"] != "dumb"
        let line = try await withTaskCancellationHandler {
            try await BlockingCall.run {
                guard canEdit else {
                    // An empty line takes what would be in the line.
                    let shown = text.isEmpty ? prompt : "[\(TerminalText.line(text))] \(prompt)"
                    let typed = try stdin.readAnswer { stderr.write(shown) }
                    return typed?.isEmpty == true ? text : typed
                }
                return try stdin.readEdited(text) { lineEditor(prompt) }
            }
        } onCancel: {
            Interrupts.shared.wakeReader()
        }
        try Task.checkCancellation()
        if line == nil { stderr.write("\n") }
        return line
    }

    /// Lets the user choose.
    ///
    /// - Returns: The index of the choice, or nil if the user made none.
    package func choose(_ question: String, from choices: [String]) async throws -> Int? {
        try await drawing.pause { try await chosen(question, from: choices) }
    }

    private func chosen(_ question: String, from choices: [String]) async throws -> Int? {
        stderr.write(wrapped(TerminalText.block(question)) + "\n")
        for (index, choice) in choices.enumerated() {
            stderr.write("  \(index + 1)) \(TerminalText.line(choice))\n")
        }
        while true {
            let typed = try await line("Number (empty to stop): ")
            guard let answer = typed?.trimmingWhitespace(), !answer.isEmpty else { return nil }
            if let number = Int(answer), choices.indices.contains(number - 1) { return number - 1 }
            stderr.write("\(TerminalText.line(answer)) is not in the list.\n")
        }
    }

    /// Asks for a line.
    ///
    /// - Parameter question: Sanitised by the caller.
    /// - Returns: nil if there is no answer.
    package func ask(_ question: String) async throws -> String? {
        let answer = try await drawing.pause { try await line(question) }
        if answer == nil { stderr.write("\n") }
        return answer
    }

    /// Asks for a secret, which is not shown while it is typed.
    ///
    /// - Parameter question: Sanitised by the caller.
    /// - Returns: nil if there is no answer.
    package func secret(_ question: String) async throws -> String? {
        defer { stderr.write("\n") }
        return try await BlockingCall.run { try stdin.readSecret { stderr.write(question) } }
    }

    /// How long nobody can have read a question: a key that comes sooner was meant for something else.
    private static let shortestReading = Duration.milliseconds(300)

    /// The next key that is typed, but for those that come before anybody can have read the question; nil at the end of
    /// the input.
    ///
    /// - Parameter text: The text to show once keys count. The question itself is shown already.
    /// - Throws: `CancellationError` when the user interrupts, or the task is cancelled.
    package func key(_ text: String) async throws -> UInt8? {
        // With `self.`, without which the compiler does not open the existential.
        try await key(text, by: self.clock)
    }

    private func key(_ text: String, by clock: some Clock<Duration>) async throws -> UInt8? {
        let begin = clock.now
        var text = text
        while true {
            let key = try await Interrupts.shared.waiting { [text] in
                try await BlockingCall.run { try stdin.readKey { stderr.write(text) } }
            }
            if key == nil || begin.duration(to: clock.now) >= Self.shortestReading { return key }
            text = ""
        }
    }

    /// Runs a body that the user has to wait for; a terminal shows a line meanwhile.
    ///
    /// - Parameter line: The line of the moment; asked for once a second.
    package func working<R: Sendable>(
        showing line: @escaping @Sendable () -> String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        guard stderrIsTerminal else { return try await body() }
        let block = LiveBlock(self)
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while true {
                    block.show([line()])
                    try await ContinuousClock().sleep(for: .seconds(1))
                }
            }
            defer {
                group.cancelAll()
                block.end()
            }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Shows a line in place of the one before; nil takes it away.
    ///
    /// - Parameter line: Sanitised by the caller.
    /// - Returns: Whether there is a terminal that lines can be replaced at.
    @discardableResult
    package func showProgress(_ line: String?) -> Bool {
        guard stderrIsTerminal else { return false }
        stderr.write("\r\u{1B}[K" + (line ?? ""))
        return true
    }
}

extension TerminalContext {
    /// The text before the user's input.
    static let prompt = "› "

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
