import Glibc
import LocalState

/// Reads files that the user names.
package enum InputFile {
    /// All bytes of a file, or nil if there are more than `limit`. Blocks until a pipe's writer ends.
    ///
    /// - Throws: ``NamedFileError`` if it cannot be read; `CancellationError` when the user interrupts the wait for a
    ///   pipe or a device.
    package static func read(_ path: String, limit: Int) throws -> [UInt8]? {
        let descriptor = try open(path)
        defer { close(descriptor) }
        let status = FileStatus(descriptor: descriptor)
        let isFile = status?.kind == .file
        guard !isFile || status?.size ?? 0 <= limit else { return nil }
        var content: [UInt8] = []
        content.reserveCapacity(isFile ? status?.size ?? 0 : 0)
        while let chunk = try readSome(descriptor, isFile: isFile, named: path) {
            content.append(contentsOf: chunk)
            guard content.count <= limit else { return nil }
        }
        return content
    }

    /// Opens a file to read it. Does not wait for a pipe's writer: waiting for input can be interrupted, opening could
    /// not.
    private static func open(_ path: String) throws -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw NamedFileError(reading: path, number: errno) }
        return descriptor
    }

    /// The next bytes of an opened file; nil at its end.
    private static func readSome(_ descriptor: Int32, isFile: Bool, named path: String) throws -> ArraySlice<UInt8>? {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // With O_NONBLOCK, a pipe without a writer looks like one that has ended.
            if !isFile { try Interrupts.shared.wait(for: descriptor, events: POLLIN) }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw NamedFileError(reading: path, number: errno) }
            return count > 0 ? chunk[..<count] : nil
        }
    }
}

extension NamedFileError {
    /// - Parameter number: What the system says about a file that is to be read.
    fileprivate init(reading file: String, number: Int32) {
        guard !file.utf8.isEmpty else {
            self.init(.unnamed, file: file, "the name of a file is empty")
            return
        }
        switch number {
        case ENOENT, ENOTDIR: self.init(.notFound, file: file, "\(file): there is no such file")
        case EACCES, EPERM: self.init(.denied, file: file, "\(file): you may not read it")
        default: self.init(.unreadable, file: file, "\(file): \(String(cString: strerror(number)))")
        }
    }
}
