import Glibc
package import LineEditor
import NIOConcurrencyHelpers

/// The input of a command. Reads block: never call them on a cooperative thread.
package protocol InputSource: Sendable {
    /// All bytes up to the end of the input, or nil when there are more than `limit`.
    func readAll(limit: Int) throws -> [UInt8]?
    /// The next bytes; nil at the end of the input.
    func readSome() throws -> [UInt8]?
    /// The next line without its line end, or nil at the end of the input.
    ///
    /// - Throws: `CancellationError` when the user interrupts.
    func readLine() throws -> String?
    /// A line that a terminal does not show while it is typed.
    ///
    /// - Parameter question: Called once nothing that is typed is shown: the question is shown then.
    func readSecret(_ question: () -> Void) throws -> String?
    /// A line that answers a question. Of what is pasted, the first line; the rest answers no other question.
    ///
    /// - Parameter question: Called once what is typed is for this line: the question is shown then.
    func readAnswer(_ question: () -> Void) throws -> String?
    /// A line that is edited; nil at the end of the input.
    ///
    /// - Parameters:
    ///   - text: What is in the line at first.
    ///   - editor: Makes the editor of a terminal; nil if it cannot be used.
    /// - Throws: `CancellationError` when the user interrupts, in an empty line too.
    func readEdited(_ text: String, editor: () -> LineEditor?) throws -> String?
    /// A key that is typed from now on, which a terminal gives without Enter and does not show; nil at the end of the
    /// input.
    ///
    /// A key that was being typed before does not count: the terminal has to be quiet for a moment first.
    ///
    /// - Parameter ready: Called when a key counts.
    /// - Throws: `CancellationError` when the user interrupts.
    func readKey(ready: () -> Void) throws -> UInt8?
}

extension InputSource {
    package func readAnswer(_ question: () -> Void) throws -> String? {
        question()
        return try readLine()
    }

    package func readSecret(_ question: () -> Void) throws -> String? {
        question()
        return try readLine()
    }

    /// Without a terminal, a line.
    package func readEdited(_ text: String, editor: () -> LineEditor?) throws -> String? {
        try readLine()
    }

    /// Without a terminal, the first byte of a line.
    package func readKey(ready: () -> Void) throws -> UInt8? {
        ready()
        return try readLine().map { $0.utf8.first ?? UInt8(ascii: "\n") }
    }
}

/// The process's standard input.
struct StandardInput: InputSource {
    /// Bytes that were read after the last line.
    private let rest = NIOLockedValueBox<[UInt8]>([])

    func readAll(limit: Int) throws -> [UInt8]? {
        var content: [UInt8] = []
        while let chunk = try readSome() {
            content.append(contentsOf: chunk)
            guard content.count <= limit else { return nil }
        }
        return content
    }

    func readSome() throws -> [UInt8]? {
        let kept = rest.withLockedValue { rest in
            defer { rest = [] }
            return rest
        }
        return kept.isEmpty ? try readChunk() : kept
    }

    func readAnswer(_ question: () -> Void) throws -> String? {
        // A terminal alone has something to drop: what waits in a pipe stays.
        tcflush(STDIN_FILENO, TCIFLUSH)
        question()
        let answer = try readLine()
        tcflush(STDIN_FILENO, TCIFLUSH)
        return answer
    }

    func readEdited(_ text: String, editor: () -> LineEditor?) throws -> String? {
        guard let editor = editor() else { return try readLine() }
        var text = text
        while true {
            switch editor.readOnce(text) {
            case .line(let line): return line
            case .end: return nil
            // There is no editor for a single line.
            case .edit(let typed): text = typed
            case .dropped(wasEmpty: false): text = ""
            case .dropped(wasEmpty: true), .interrupted: throw CancellationError()
            }
        }
    }

    func readLine() throws -> String? { try nextLine() }

    func readSecret(_ question: () -> Void) throws -> String? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            question()
            return try nextLine()
        }
        var original = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &original) }
        question()
        return try nextLine()
    }

    /// How long nothing may be typed before a key counts, in milliseconds.
    private static let quiet: Int32 = 400

    func readKey(ready: () -> Void) throws -> UInt8? {
        var original = termios()
        guard tcgetattr(STDIN_FILENO, &original) == 0 else {
            ready()
            return try nextLine().map { $0.utf8.first ?? UInt8(ascii: "\n") }
        }
        var settings = original
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
        withUnsafeMutableBytes(of: &settings.c_cc) { ($0[Int(VMIN)], $0[Int(VTIME)]) = (1, 0) }
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &original) }
        var typed: Int32 = 0
        repeat {
            tcflush(STDIN_FILENO, TCIFLUSH)
            try Interrupts.shared.pause(milliseconds: Self.quiet)
            _ = ioctl(STDIN_FILENO, UInt(FIONREAD), &typed)
        } while typed > 0
        ready()
        guard let keys = try readChunk() else { return nil }
        // An arrow key or a paste is no answer, and Ctrl-D ends the input here as elsewhere.
        return keys.count > 1 ? UInt8(ascii: "\n") : keys[0] == 0x04 ? nil : keys[0]
    }

    private func nextLine() throws -> String? {
        while true {
            let line: [UInt8]? = rest.withLockedValue { rest in
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { rest.removeSubrange(...end) }
                return Array(rest[..<end])
            }
            if let line { return Self.text(line) }
            guard let chunk = try readChunk() else {
                let last = rest.withLockedValue { rest in
                    defer { rest = [] }
                    return rest
                }
                return last.isEmpty ? nil : Self.text(last)
            }
            rest.withLockedValue { $0.append(contentsOf: chunk) }
        }
    }

    private static func text(_ line: [UInt8]) -> String {
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }

    /// Waits for input or for an interrupt; nil at the end of the input.
    private func readChunk() throws -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            try Interrupts.shared.wait(for: STDIN_FILENO, events: POLLIN)
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return count > 0 ? Array(chunk[..<count]) : nil
        }
    }
}
