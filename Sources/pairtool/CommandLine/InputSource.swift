import Glibc
import NIOConcurrencyHelpers

/// The input of a command. Reads block: never call them on a cooperative thread.
protocol InputSource: Sendable {
    /// All bytes up to the end of the input, or nil when there are more than `limit`.
    func readAll(limit: Int) throws -> [UInt8]?
    /// The next bytes; nil at the end of the input.
    func readSome() throws -> [UInt8]?
    /// The next line without its line end, or nil at the end of the input.
    ///
    /// - Parameter echo: Whether a terminal shows what is typed.
    /// - Throws: `CancellationError` when the user interrupts.
    func readLine(echo: Bool) throws -> String?
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

    func readLine(echo: Bool) throws -> String? {
        guard !echo else { return try nextLine() }
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return try nextLine() }
        var original = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &original) }
        return try nextLine()
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
            try Interrupts.shared.wait(for: STDIN_FILENO, POLLIN)
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return count > 0 ? Array(chunk[..<count]) : nil
        }
    }
}
