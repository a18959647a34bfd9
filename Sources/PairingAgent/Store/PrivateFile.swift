internal import Glibc

/// Files that only their owner may read, written so that a process that dies leaves the old or the new content and
/// never a mixture, and so does a machine where the file is durable.
package enum PrivateFile {
    /// A system call on a file failed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The text of `errno`.
    package static func systemMessage() -> String {
        String(cString: strerror(errno))
    }

    /// Makes a directory and its parents, each with mode 0700 where it is new.
    package static func makeDirectory(_ path: String) throws(Failure) {
        guard path != "." else { return }
        var built = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            built += "/" + part
            if mkdir(built, 0o700) != 0, errno != EEXIST {
                let message = systemMessage()
                var status = stat()
                // A parent that exists may refuse mkdir for other reasons (a read-only file system).
                if stat(built, &status) != 0 { throw Failure(description: "\(built): \(message)") }
            }
        }
    }

    /// Writes a file (mode 0600): temporary file, rename; where it is durable, with fsync of the file and of the
    /// directory.
    ///
    /// - Parameters:
    ///   - replacing: When false and the file exists, it stays as it is, without an error.
    ///   - makesDirectory: Whether a missing directory is made.
    ///   - isDurable: Whether to wait until the content is on the disk. A file that can be made again need not.
    package static func write(
        _ bytes: UnsafeRawBufferPointer,
        to path: String,
        replacing: Bool = true,
        makesDirectory: Bool = true,
        isDurable: Bool = true
    ) throws(Failure) {
        let directory = directory(of: path)
        if makesDirectory { try makeDirectory(directory) }
        var template = Array((directory + "/.tmp-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Failure(description: "\(directory): \(systemMessage())") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var isOpen = true
        defer {
            if isOpen { close(descriptor) }
            unlink(template)
        }
        var written = 0
        while written < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "\(path): \(systemMessage())") }
            written += count
        }
        guard !isDurable || fsync(descriptor) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        isOpen = false
        guard close(descriptor) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        if replacing {
            guard rename(template, path) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        } else if link(template, path) != 0, errno != EEXIST {
            throw Failure(description: "\(path): \(systemMessage())")
        }
        if isDurable { syncDirectory(directory) }
    }

    /// Reads a whole file, or returns nil where there is none.
    ///
    /// - Parameter limit: The most bytes that it may have. Default: 16 MiB.
    package static func read(_ path: String, limit: Int = 16 << 20) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(description: "\(path): \(systemMessage())")
        }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(description: "\(path): \(systemMessage())") }
            guard count > 0 else { return content }
            content.append(contentsOf: chunk[..<count])
            guard content.count <= limit else { throw Failure(description: "\(path): larger than \(limit) bytes") }
        }
    }

    /// Why a file that is to be its owner's alone is not read.
    package enum Distrust: Error, Sendable, Hashable {
        /// A directory, a pipe, a link…
        case noFile
        case otherOwner
        /// Others may read or change it.
        case openToOthers
        /// The system's message.
        case unreadable(String)
    }

    /// Reads a file that belongs to this user and that nobody else may read or change; nil where there is none.
    ///
    /// - Parameter limit: Bytes after which it is cut off.
    package static func readOwned(_ path: String, limit: Int) throws(Distrust) -> [UInt8]? {
        // A pipe in its place must not hold anybody up, and a link may lead anywhere.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? .noFile : .unreadable(systemMessage())
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .noFile }
        guard status.st_uid == geteuid() else { throw .otherOwner }
        guard status.st_mode & 0o077 == 0 else { throw .openToOthers }
        var bytes = [UInt8](repeating: 0, count: limit)
        var size = 0
        while size < limit {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + size, limit - size) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(systemMessage()) }
            guard count > 0 else { break }
            size += count
        }
        return Array(bytes[..<size])
    }

    /// Whether a path leads to a directory.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a path leads to a regular file; nil where there is nothing.
    package static func isRegularFile(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Runs a body while no other process runs one under the same lock file.
    package static func withLock<R>(_ path: String, _ body: () throws -> R) throws -> R {
        try makeDirectory(directory(of: path))
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        // Closing the descriptor releases the lock.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(description: "\(path): \(systemMessage())") }
        }
        return try body()
    }

    /// The directory that a file is in: `.` for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func syncDirectory(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
