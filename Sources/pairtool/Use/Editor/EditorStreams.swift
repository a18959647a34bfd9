import CompanionWire
import Dispatch
import Glibc

/// Standard input and output as an editor has them: lines of any length.
struct EditorStreams: Sendable {
    private let queue = DispatchQueue(label: "pairtool.acp.output")

    /// Writes bytes behind those before, without waiting for the editor.
    func write(_ bytes: [UInt8]) {
        queue.async { bytes.withUnsafeBytes { Self.write($0) } }
    }

    /// Waits until all is written.
    func finish() { queue.sync {} }

    /// Bytes of a line of the editor: prompts may have pictures.
    private static let mostBytes = 32 << 20

    /// The lines of standard input.
    static func lines() -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            DispatchQueue(label: "pairtool.acp.input").async {
                var lines = ACPLines(limit: mostBytes)
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    let isWhole = buffer.withUnsafeBytes { bytes in
                        lines.take(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { line in
                            continuation.yield(line)
                            return true
                        }
                    }
                    guard isWhole else { break }
                }
                continuation.finish()
            }
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
