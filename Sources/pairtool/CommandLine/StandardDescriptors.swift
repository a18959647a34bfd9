import Glibc
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
