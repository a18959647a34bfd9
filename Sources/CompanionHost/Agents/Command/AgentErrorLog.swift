import Dispatch
import Logging

/// Writes a command's standard error to the log, line by line and bounded.
struct AgentErrorLog {
    static let maximumLines = 200
    static let maximumLineSize = 500

    private let logger: Logger
    private var line: [UInt8] = []
    private var lines = 0

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

    /// Writes what is left of the last line.
    mutating func finish() {
        defer { line = [] }
        guard !line.isEmpty, lines < Self.maximumLines else { return }
        lines += 1
        logger.warning(
            "agent: \(String(decoding: line, as: UTF8.self))",
            metadata: .event("host", outcome: "agent")
        )
    }
}

/// Waits, in a cancelled task too: what a cancelled turn started still has to be ended in good order.
func uncancellableDelay(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
}
