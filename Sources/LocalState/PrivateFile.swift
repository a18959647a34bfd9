internal import Glibc

/// Files that only their owner may read. Writes are atomic: if the process dies, the file has the old or the new
/// content, never a mixture. For a durable file the same holds if the machine fails.
package enum PrivateFile {
    /// A system call on a file failed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
        /// The command to run, or what else to do; nil if nothing helps.
        package var remedy: String?

        /// The message of the system without the path; for other failures the same as ``description``.
        package let reason: String

        init(description: String, remedy: String? = nil) {
            self.description = description
            self.remedy = remedy
            reason = description
        }

        /// - Parameter reason: The system's message, of ``systemMessage()``.
        init(_ path: String, reason: String) {
            description = "\(path): \(reason)"
            self.reason = reason
        }
    }

    /// The text of `errno`.
    package static func systemMessage() -> String {
        String(cString: strerror(errno))
    }

    /// Creates a directory and its missing parents, with mode 0700, so that no power cut takes them away again.
    /// Directories that exist keep their mode.
    package static func makeDirectory(_ path: String) throws(Failure) {
        let slash = UInt8(ascii: "/")
        // Starts at the current directory, or at the root.
        var built = path.utf8.first == slash ? "" : "."
        for part in path.utf8.split(separator: slash) where !part.elementsEqual(".".utf8) {
            let parent = built
            built += "/" + String(decoding: part, as: UTF8.self)
            if mkdir(built, 0o700) == 0 {
                syncDirectory(parent.isEmpty ? "/" : parent)
            } else if errno != EEXIST {
                let message = systemMessage()
                var status = stat()
                // For an existing parent, mkdir may fail for other reasons (a read-only file system).
                if stat(built, &status) != 0 { throw Failure(description: "\(built): \(message)") }
            }
        }
    }

    /// Writes a file (mode 0600): to a temporary file that is then renamed. For a durable file, also fsync of the file
    /// and of the directory.
    ///
    /// - Parameters:
    ///   - replacing: When false and the file exists, it stays as it is, without an error.
    ///   - makesDirectory: Whether to create a missing directory.
    ///   - isDurable: Whether to wait until the content is on the disk. Not needed for a file that can be created
    ///     again.
    package static func write(
        _ bytes: UnsafeRawBufferPointer,
        to path: String,
        replacing: Bool = true,
        makesDirectory: Bool = true,
        isDurable: Bool = true
    ) throws(Failure) {
        if makesDirectory { try makeDirectory(directory(of: path)) }
        let draft = try Draft(path)
        try draft.write(bytes)
        try draft.finish(replacing: replacing, isDurable: isDurable)
    }

    /// A file that is written piece by piece, beside the one whose place it takes when it is whole. Without that, it is
    /// removed.
    package final class Draft {
        private let path: String
        private var template: [CChar]
        private var descriptor: Int32
        private var isThere = true

        /// - Parameter path: The file; its directory exists.
        package init(_ path: String) throws(Failure) {
            self.path = path
            let directory = directory(of: path)
            template = []
            (descriptor, isThere) = (-1, false)
            (descriptor, template) = try temporaryFile(in: directory)
            isThere = true
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
            if isThere { unlink(template) }
        }

        /// Adds bytes at the end of the file.
        ///
        /// - Throws: ``Failure`` if they cannot be written.
        package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
            guard writeAll(bytes, to: descriptor) else { throw Failure(path, reason: systemMessage()) }
        }

        /// Puts the file in its place, as ``PrivateFile/write(_:to:replacing:makesDirectory:isDurable:)`` does.
        package func finish(replacing: Bool = true, isDurable: Bool = true) throws(Failure) {
            guard !isDurable || fsync(descriptor) == 0 else { throw Failure(path, reason: systemMessage()) }
            let whole = descriptor
            descriptor = -1
            guard close(whole) == 0 else { throw Failure(path, reason: systemMessage()) }
            if replacing {
                guard rename(template, path) == 0 else { throw Failure(path, reason: systemMessage()) }
                isThere = false
            } else if link(template, path) != 0, errno != EEXIST {
                throw Failure(path, reason: systemMessage())
            }
            if isDurable { syncDirectory(directory(of: path)) }
        }
    }

    private static func temporaryFile(in directory: String) throws(Failure) -> (descriptor: Int32, path: [CChar]) {
        var path = Array("\(directory)/.tmp-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failure(directory, reason: systemMessage()) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return (descriptor, path)
    }

    /// The directory of a file: `.` for a bare name.
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

/// - Returns: Whether everything was written; if not, `errno` tells why.
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

extension PrivateFile {
    /// Reads a whole record file. Returns nil if it does not exist. A file that other users may have written is
    /// refused: such files decide what is trusted, and what is sent.
    ///
    /// - Parameters:
    ///   - limit: The largest size in bytes. Default: 16 MiB.
    ///   - isChecked: Whether such a file is refused. Default: true; false only to check whether the file is damaged.
    /// - Throws: ``Failure``, with a remedy if the file is refused.
    package static func readRecord(
        _ path: String,
        limit: Int = 16 << 20,
        isChecked: Bool = true
    ) throws(Failure) -> [UInt8]? {
        // Opening a pipe must not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path, reason: systemMessage())
        }
        defer { close(descriptor) }
        if isChecked { try checkWriters(of: descriptor, named: path) }
        return try content(of: descriptor, named: path, limit: limit)
    }

    private static func checkWriters(of descriptor: Int32, named path: String) throws(Failure) {
        guard let status = FileStatus(descriptor: descriptor), status.kind == .file else {
            throw Failure(description: "\(path) is not a file", remedy: "move it away: mv '\(path)' '\(path).moved'")
        }
        // Root could also replace this program, so a file of root's is trusted.
        guard status.owner == geteuid() || status.owner == 0 else {
            throw Failure(
                description: "\(path) is not used: it belongs to another user",
                remedy: "check who put it there, then: chown $(id -u) '\(path)'"
            )
        }
        guard status.permissions & 0o022 == 0 else {
            throw Failure(
                description: "\(path) is not used: other users can change it",
                remedy:
                    "if nobody else has changed it: chmod 600 '\(path)'; otherwise move it away: mv '\(path)' '\(path).moved'"
            )
        }
    }
}
