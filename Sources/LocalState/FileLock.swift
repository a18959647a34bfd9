internal import Glibc

/// A lock between processes of this user: a file that is locked with flock(2). The lock ends with this object, or with
/// the process.
package final class FileLock: Sendable {
    /// The lock file, open for reading and writing.
    private let descriptor: Int32

    /// Opens the file; creates it with mode 0600, and its directory, if they are missing.
    private init(_ path: String, followingLinks: Bool = false) throws(PrivateFile.Failure) {
        try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW), 0o600)
        guard descriptor >= 0 else { throw PrivateFile.Failure(path, reason: PrivateFile.systemMessage()) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // Closing alone is not enough: a process that is just being started has a copy until it runs its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Takes a lock if it is free. Symbolic links are not followed.
    ///
    /// - Returns: nil if another process has the lock.
    /// - Throws: `PrivateFile.Failure` if the file cannot be opened or locked.
    package static func take(ifFree path: String) throws(PrivateFile.Failure) -> FileLock? {
        let lock = try FileLock(path)
        if flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 { return lock }
        guard errno == EWOULDBLOCK else { throw PrivateFile.Failure(path, reason: PrivateFile.systemMessage()) }
        return nil
    }

    /// Runs a body while no other process has the lock. Symbolic links are not followed.
    ///
    /// - Parameters:
    ///   - onWait: Called once if another process has the lock. What it throws ends the wait.
    ///   - body: Gets the descriptor of the file, open for reading and writing.
    /// - Throws: `PrivateFile.Failure` if the file cannot be opened or locked; `CancellationError`.
    package static func with<R>(
        _ path: String,
        onWait: () throws -> Void,
        _ body: (Int32) async throws -> R
    ) async throws -> R {
        let lock = try FileLock(path)
        var isWaiting = false
        while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw PrivateFile.Failure(path, reason: PrivateFile.systemMessage())
            }
            if !isWaiting { try onWait() }
            isWaiting = true
            try await ContinuousClock().sleep(for: .milliseconds(20))
        }
        defer { withExtendedLifetime(lock) {} }
        return try await body(lock.descriptor)
    }

    /// Runs a body while no other process has the lock. Blocks the thread until then.
    ///
    /// - Throws: `PrivateFile.Failure` if the file cannot be opened or locked.
    package static func withBlocking<R>(_ path: String, _ body: () throws -> R) throws -> R {
        let lock = try FileLock(path, followingLinks: true)
        while flock(lock.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw PrivateFile.Failure(path, reason: PrivateFile.systemMessage()) }
        }
        return try withExtendedLifetime(lock, body)
    }
}
