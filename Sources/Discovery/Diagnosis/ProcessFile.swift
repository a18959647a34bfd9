internal import Glibc

/// Files of `/proc`, which have no size.
package enum ProcessFile {
    /// The text of a file; empty if it cannot be read.
    package static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 16 << 10))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}
