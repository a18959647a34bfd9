import Logging
import Subprocess

/// Writes a command's standard error to the log, line by line and bounded.
struct AgentErrorLog {
    static let maximumLines = 200
    static let maximumLineSize = 500

    private let logger: Logger
    private var line: [UInt8] = []
    private var lines = 0
    /// The last lines, for the error of a command that fails.
    private(set) var lastLines: [String] = []
    private static let keptLines = 3
    /// Characters of each.
    private static let keptLineSize = 200

    init(logger: Logger) {
        self.logger = logger
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish()
            } else if line.count < Self.maximumLineSize {
                // Control characters must not reach a terminal that shows the log.
                line.append(byte < 0x20 || byte == 0x7f ? UInt8(ascii: " ") : byte)
            }
        }
    }

    /// Writes the last line, if it has no end.
    mutating func finish() {
        defer { line = [] }
        let text = String(decoding: line, as: UTF8.self)
        guard line.contains(where: { $0 != UInt8(ascii: " ") }) else { return }
        lastLines = (lastLines + [String(text.prefix(Self.keptLineSize))]).suffix(Self.keptLines)
        guard lines < Self.maximumLines else { return }
        lines += 1
        logger.warning(
            "agent: \(text)",
            metadata: .event("host", outcome: "agent")
        )
    }
}

extension SubprocessOutputSequence {
    /// Reads the output of a process until it ends. An output that breaks off is logged: as a warning, unless the task
    /// was cancelled, which ends the process.
    func drain(_ name: String, logger: Logger, _ body: (UnsafeRawBufferPointer) -> Void) async {
        do {
            for try await buffer in self { buffer.withUnsafeBytes { body($0) } }
        } catch {
            logger.log(level: Task.isCancelled ? .debug : .warning, "\(name) broke off", metadata: .failure(error))
        }
    }
}
