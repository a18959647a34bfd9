import Glibc
import PairingAgent

/// A lock between processes of this user: a file that is locked with flock(2).
enum FileLock {
    /// Runs a body while no other process has the lock.
    ///
    /// - Parameters:
    ///   - path: The file. It is created with mode 0600 if it is missing, and so is its directory. Symbolic links are
    ///     not followed.
    ///   - output: Gets `notice`, once, if another process has the lock.
    ///   - body: Gets the file, open for reading and writing.
    /// - Throws: ``CommandError`` if the file cannot be locked, `PrivateFile.Failure`; `CancellationError`.
    static func with<R>(
        _ path: String,
        _ output: Output,
        notice: String,
        _ body: (Int32) async throws -> R
    ) async throws -> R {
        try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        // Closing the descriptor releases the lock; so does the end of the process.
        defer { close(descriptor) }
        var hasSaid = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(path) }
            if !hasSaid { output.say(notice) }
            hasSaid = true
            try await ContinuousClock().sleep(for: .milliseconds(20))
        }
        return try await body(descriptor)
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError(.failed, "file", "\(path): \(PrivateFile.systemMessage())")
    }
}
