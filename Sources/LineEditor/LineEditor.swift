internal import CEdit
internal import Dispatch
internal import Glibc

/// Reads lines from a terminal with editing and a history (libedit, emacs keys).
///
/// Reading blocks a thread of its own, not the caller's.
package final class LineEditor: @unchecked Sendable {
    // Safe because all that changes (the C objects and the reader's state) is made, used and freed on `queue` alone,
    // one block at a time; `deinit` runs when no block holds the editor any more.

    /// What came of reading a line.
    package enum Input: Sendable, Hashable {
        /// A line, without its end.
        case line(String)
        /// The input has ended (Ctrl-D on an empty line).
        case end
        /// A signal came.
        case interrupted
    }

    /// How many lines the history keeps.
    private static let historySize: Int32 = 500

    private let queue = DispatchQueue(label: "pairtool.line-editor")
    private let reader: TerminalReader
    private let editor: OpaquePointer
    private let history: OpaquePointer

    /// - Parameters:
    ///   - prompt: What stands before the line.
    ///   - interruptDescriptor: Becomes readable when a signal came; reading then ends.
    /// - Returns: nil where the terminal cannot be used.
    package init?(prompt: String, interruptDescriptor: Int32) {
        // Characters of several bytes need a locale that knows them.
        setlocale(LC_CTYPE, "")
        if localeIsSingleByte() { setlocale(LC_CTYPE, "C.UTF-8") }
        guard let history = history_init() else { return nil }
        guard let editor = pairtool_el_init() else {
            history_end(history)
            return nil
        }
        reader = TerminalReader(prompt: prompt, interruptDescriptor: interruptDescriptor)
        (self.editor, self.history) = (editor, history)
        var event = HistEvent()
        _ = pairtool_history_set_size(history, &event, Self.historySize)
        _ = pairtool_el_set_client_data(editor, Unmanaged.passUnretained(reader).toOpaque())
        _ = pairtool_el_set_prompt(editor, linePrompt)
        _ = pairtool_el_set_editor(editor, "emacs")
        _ = pairtool_el_set_history(editor, history)
        _ = pairtool_el_set_reader(editor, readCharacter)
    }

    deinit {
        el_end(editor)
        history_end(history)
    }

    /// Puts a line into the history; Arrow-Up brings it back.
    package func remember(_ line: String) {
        queue.async { [self] in
            var event = HistEvent()
            _ = pairtool_history_enter(history, &event, line)
        }
    }

    /// Reads a line. One call at a time.
    package func readLine() async -> Input {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                reader.wasInterrupted = false
                var count: Int32 = 0
                guard let text = el_gets(editor, &count), count > 0 else {
                    continuation.resume(returning: reader.wasInterrupted ? .interrupted : .end)
                    return
                }
                var line = String(cString: text)
                if line.last == "\n" { line.removeLast() }
                continuation.resume(returning: .line(line))
            }
        }
    }
}

/// Whether the locale knows single bytes only (`MB_CUR_MAX` is a macro that does not import).
private func localeIsSingleByte() -> Bool {
    var character: wchar_t = 0
    // é in UTF-8 is one character of two bytes.
    return mbtowc(&character, [CChar(bitPattern: 0xC3), CChar(bitPattern: 0xA9)], 2) != 2
}

// libedit calls these on the thread that reads. They are functions of the file: a closure would inherit an isolation.

private func linePrompt(_ editor: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    TerminalReader.of(editor)?.prompt
}

private func readCharacter(_ editor: OpaquePointer?, _ character: UnsafeMutablePointer<wchar_t>?) -> Int32 {
    guard let reader = TerminalReader.of(editor), let scalar = reader.next() else { return 0 }
    character?.pointee = wchar_t(bitPattern: scalar.value)
    return 1
}
