import Dispatch
import Glibc

/// The standard streams of this process.
enum StandardStreams {
    struct WriteError: Error {}

    static func write(line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard Glibc.write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { throw WriteError() }
    }

    /// Waits for the end of standard input.
    static func inputEnd() async {
        let (ended, continuation) = AsyncStream<Never>.makeStream()
        // Reading blocks: it has a queue, and so a thread, of its own.
        DispatchQueue(label: "companion-fakes.input").async {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while read(STDIN_FILENO, &buffer, buffer.count) > 0 {}
            continuation.finish()
        }
        for await _ in ended {}
    }
}
