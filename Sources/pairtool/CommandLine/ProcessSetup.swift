import CConfinement
@preconcurrency import Glibc
import Synchronization

/// Standard input, output and error as they have to be before anything else opens a file.
enum StandardDescriptors {
    private static let lacksOutput = Atomic(false)

    /// Whether the caller has closed standard output.
    static var isOutputClosed: Bool { lacksOutput.load(ordering: .relaxed) }

    /// Fills in what the caller has closed (`<&-`): else the next socket or timer takes the number, and gets the
    /// answers. A missing output is one that cannot be written to, so that the loss is noticed.
    static func open() {
        fill(STDIN_FILENO, "/dev/null", O_RDONLY)
        fill(STDOUT_FILENO, "/dev/full", O_WRONLY)
        fill(STDERR_FILENO, "/dev/null", O_WRONLY)
    }

    private static func fill(_ descriptor: Int32, _ path: String, _ flags: Int32) {
        guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { return }
        // The lowest free number is this one: those below are open by now.
        _ = Glibc.open(path, flags | O_CLOEXEC)
        if descriptor == STDOUT_FILENO { lacksOutput.store(true, ordering: .relaxed) }
    }
}

/// The variables that this process was started with.
enum EnvironmentVariables {
    /// By their names. Of a name that comes twice, the first counts, as it does for the C library.
    static var ofProcess: [String: String] {
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

/// The memory of this process, which holds keys, tokens and codes.
enum ProcessMemory {
    /// Keeps it out of core dumps, and from the other processes of its user. To be called before there are secrets.
    ///
    /// Programs that are started, agents among them, are not affected.
    static func keepPrivate() {
        // It cannot fail, but where somebody filters system calls: that is no reason not to work.
        _ = keep_memory_private()
    }
}
