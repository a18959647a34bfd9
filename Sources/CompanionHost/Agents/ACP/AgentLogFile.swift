import CompanionWire
import Glibc
import LocalState
import SystemPackage

/// A log file for an agent's standard error, private to the user and bounded. The last lines are kept for the message
/// about its end.
struct AgentLogFile {
    /// Bytes of the file. Then it becomes `….1`, and a new one begins.
    static let maximumSize = 1 << 20
    static let keptLines = 5
    /// Scalars of each.
    static let keptLength = 200

    private let path: String
    private var file: FileDescriptor?
    private var size = 0
    private var line: [UInt8] = []
    private(set) var lastLines: [String] = []

    /// - Parameter path: Of the file; nothing is written where it cannot be opened.
    init(path: String) {
        self.path = path
        try? PrivateFile.makeDirectory(PrivateFile.directory(of: path))
        open()
    }

    private mutating func open() {
        file = try? FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .append, .closeOnExec, .noFollow],
            permissions: .ownerReadWrite
        )
        size = FileStatus(path)?.size ?? 0
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish()
            } else if line.count < 4096 {
                line.append(byte)
            }
        }
    }

    /// Writes the last line, if it has no end.
    mutating func finish() {
        defer { line = [] }
        let text = TerminalText.line(String(decoding: line, as: UTF8.self)).trimmingWhitespace()
        guard !text.isEmpty else { return }
        lastLines = (lastLines + [text.scalars(atMost: Self.keptLength)]).suffix(Self.keptLines)
        let bytes = Array((text + "\n").utf8)
        if size + bytes.count > Self.maximumSize {
            try? file?.close()
            rename(path, path + ".1")
            open()
        }
        size += bytes.count
        _ = try? file?.writeAll(bytes)
    }

    mutating func close() {
        finish()
        try? file?.close()
        file = nil
    }
}
