import Glibc
import NIOConcurrencyHelpers

/// Writes a command's text.
package protocol TextSink: Sendable {
    func write(_ bytes: UnsafeRawBufferPointer)
}

extension TextSink {
    package func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }
}

/// Keeps what is written.
package final class TextBuffer: TextSink {
    private let bytes = NIOLockedValueBox<[UInt8]>([])

    /// Begins empty.
    package init() {}

    /// The text that was written.
    package var text: String { String(decoding: bytes.withLockedValue(\.self), as: UTF8.self) }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        self.bytes.withLockedValue { $0.append(contentsOf: bytes) }
    }
}

/// Writes to a file descriptor, unbuffered and completely.
package struct FileSink: TextSink {
    package let descriptor: Int32

    private static let failure = NIOLockedValueBox<String?>(nil)

    /// Why standard output could not be written to. Nothing more is written there after such a failure.
    package static var lossOfOutput: String? { failure.withLockedValue(\.self) }

    package func write(_ bytes: UnsafeRawBufferPointer) {
        if descriptor == STDOUT_FILENO, Self.lossOfOutput != nil { return }
        var start = 0
        while start < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress! + start, bytes.count - start)
            if count >= 0 {
                start += count
            } else if errno == EPIPE, descriptor == STDOUT_FILENO {
                // The reader has closed the pipe (`pairtool messages … | head`): end by the signal, as other tools do.
                ExitCleanup.prepare()
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno != EINTR {
                let reason = StandardDescriptors.isOutputClosed ? "it is closed" : String(cString: strerror(errno))
                if descriptor == STDOUT_FILENO { Self.failure.withLockedValue { $0 = reason } }
                return
            }
        }
    }
}
