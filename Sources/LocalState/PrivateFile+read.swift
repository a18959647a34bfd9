internal import Glibc

extension PrivateFile {
    /// Reads a whole file. Returns nil if it does not exist.
    ///
    /// - Parameter limit: The largest size in bytes. Default: 16 MiB.
    /// - Throws: ``Failure`` if the file is larger, or cannot be read.
    package static func read(_ path: String, limit: Int = 16 << 20) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(path, reason: systemMessage())
        }
        defer { close(descriptor) }
        return try content(of: descriptor, named: path, limit: limit)
    }

    /// Reads the rest of an open file.
    ///
    /// - Parameters:
    ///   - path: The name of the file in errors.
    ///   - limit: The largest size in bytes.
    /// - Throws: ``Failure`` if the file is larger, or cannot be read.
    package static func content(of descriptor: Int32, named path: String, limit: Int) throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(path, reason: systemMessage()) }
            guard count > 0 else { return content }
            content.append(contentsOf: chunk[..<count])
            guard content.count <= limit else { throw Failure(description: "\(path): larger than \(limit) bytes") }
        }
    }

    /// Why a file that only its owner may access is not read.
    package enum UnsafeFile: Error, Sendable, Hashable {
        /// Not a regular file: a directory, a pipe, a link…
        case noFile
        case otherOwner
        /// Other users may read or change it.
        case openToOthers
        /// The system's message.
        case unreadable(String)
    }

    /// Reads a file that belongs to this user and that no other user may read or change. Returns nil if it does not
    /// exist.
    ///
    /// - Parameter limit: Bytes after which the content is cut off.
    package static func readOwned(_ path: String, limit: Int) throws(UnsafeFile) -> [UInt8]? {
        // Opening a pipe must not block, and a link may lead anywhere.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? .noFile : .unreadable(systemMessage())
        }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor: descriptor), status.kind == .file else { throw .noFile }
        guard status.owner == geteuid() else { throw .otherOwner }
        guard status.permissions & 0o077 == 0 else { throw .openToOthers }
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
}
