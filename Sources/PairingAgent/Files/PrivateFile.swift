internal import Glibc

/// Files that only their owner may read, written so that a process that dies leaves the old or the new content and
/// never a mixture, and so does a machine where the file is durable.
package enum PrivateFile {
    /// A system call on a file failed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
        /// The command or act that helps, if there is one.
        package var remedy: String?
    }

    /// The text of `errno`.
    package static func systemMessage() -> String {
        String(cString: strerror(errno))
    }

    /// Makes a directory and its parents, each with mode 0700 where it is new.
    package static func makeDirectory(_ path: String) throws(Failure) {
        let slash = UInt8(ascii: "/")
        // Beginning with the directory in use, or with the topmost one.
        var built = path.utf8.first == slash ? "" : "."
        for part in path.utf8.split(separator: slash) where !part.elementsEqual(".".utf8) {
            built += "/" + String(decoding: part, as: UTF8.self)
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
        var (isOpen, isThere) = (true, true)
        defer {
            if isOpen { close(descriptor) }
            if isThere { unlink(template) }
        }
        guard writeAll(bytes, to: descriptor) else { throw Failure(description: "\(path): \(systemMessage())") }
        guard !isDurable || fsync(descriptor) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        isOpen = false
        guard close(descriptor) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
        if replacing {
            guard rename(template, path) == 0 else { throw Failure(description: "\(path): \(systemMessage())") }
            isThere = false
        } else if link(template, path) != 0, errno != EEXIST {
            throw Failure(description: "\(path): \(systemMessage())")
        }
        if isDurable { syncDirectory(directory) }
    }

    /// The directory that a file is in: `.` for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(decoding: path.utf8[..<slash], as: UTF8.self)
    }

    private static func syncDirectory(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// - Returns: Whether it could be written; `errno` says why not.
private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
        let count = write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        written += count
    }
    return true
}
