internal import CEdit
internal import Glibc

/// Gives libedit the characters of standard input, until a signal comes.
final class TerminalReader {
    /// The prompt as the C string that libedit borrows.
    let prompt: UnsafeMutablePointer<CChar>
    private let interruptDescriptor: Int32
    /// Whether the last line ended because of a signal.
    var wasInterrupted = false

    init(prompt: String, interruptDescriptor: Int32) {
        self.prompt = strdup(prompt)
        self.interruptDescriptor = interruptDescriptor
    }

    deinit {
        free(prompt)
    }

    /// The reader that belongs to an editor. Valid as long as the editor is.
    static func of(_ editor: OpaquePointer?) -> TerminalReader? {
        guard let editor, let pointer = pairtool_el_client_data(editor) else { return nil }
        return Unmanaged.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The next character; nil at the end of the input or when a signal came.
    func next() -> Unicode.Scalar? {
        guard let first = nextByte() else { return nil }
        // No decoder of the library: it would read ahead, and wait for a key that nobody presses.
        let length =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        var bytes = [first]
        while bytes.count < length {
            guard let byte = nextByte() else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.first
    }

    private func nextByte() -> UInt8? {
        var entries = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruptDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        var byte: UInt8 = 0
        while true {
            if poll(&entries, 2, -1) < 0 {
                guard errno == EINTR else { return nil }
                continue
            }
            if entries[1].revents != 0 {
                wasInterrupted = true
                return nil
            }
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return count == 1 ? byte : nil
        }
    }
}
