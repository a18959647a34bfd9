@preconcurrency import Glibc
import Synchronization

/// Opens standard input, output and error if the caller has closed them, before anything else opens a file.
package enum StandardDescriptors {
    private static let lacksOutput = Atomic(false)

    /// Whether the caller has closed standard output.
    package static var isOutputClosed: Bool { lacksOutput.load(ordering: .relaxed) }

    /// Replaces descriptors that the caller has closed (`<&-`): otherwise the next socket or timer gets the number, and
    /// output goes there. A missing standard output becomes one that cannot be written to, so that the loss is
    /// reported.
    package static func open() {
        fill(STDIN_FILENO, with: "/dev/null", flags: O_RDONLY)
        fill(STDOUT_FILENO, with: "/dev/full", flags: O_WRONLY)
        fill(STDERR_FILENO, with: "/dev/null", flags: O_WRONLY)
    }

    private static func fill(_ descriptor: Int32, with path: String, flags: Int32) {
        guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { return }
        // open(2) takes the lowest free number, which is this one: all lower ones are open.
        _ = Glibc.open(path, flags | O_CLOEXEC)
        if descriptor == STDOUT_FILENO { lacksOutput.store(true, ordering: .relaxed) }
    }
}

/// The environment variables of this process.
package enum EnvironmentVariables {
    /// Values by name. If a name occurs twice, the first one counts, as it does for the C library.
    package static var ofProcess: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            if let sign = strchr(text, CInt(UInt8(ascii: "="))) {
                let name = UnsafeBufferPointer(start: text, count: sign - text)
                let key = name.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
                if variables[key] == nil { variables[key] = String(cString: sign + 1) }
            }
            entry += 1
        }
        return variables
    }
}
