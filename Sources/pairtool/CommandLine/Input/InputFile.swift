import CompanionApp
import Glibc
import LocalState
import PairingAgent

/// Reads files that the user names.
enum InputFile {
    /// All bytes of a file, or nil if there are more than `limit`. Blocks until a pipe's writer ends.
    ///
    /// - Throws: ``AppError`` if it cannot be read; `CancellationError` when the user interrupts the wait for a
    ///   pipe or a device.
    static func read(_ path: String, limit: Int) throws -> [UInt8]? {
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
    static func open(_ path: String) throws -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw AppError.unreadable(path, number: errno) }
        return descriptor
    }

    /// The next bytes of an opened file; nil at its end.
    static func readSome(_ descriptor: Int32, isFile: Bool, named path: String) throws -> ArraySlice<UInt8>? {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // With O_NONBLOCK, a pipe without a writer looks like one that has ended.
            if !isFile { try Interrupts.shared.wait(for: descriptor, events: POLLIN) }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw AppError.unreadable(path, number: errno) }
            return count > 0 ? chunk[..<count] : nil
        }
    }
}

extension AppError {
    /// The error for a file, named by the user, that cannot be read.
    static func unreadable(_ file: String, number: Int32) -> AppError {
        guard !file.utf8.isEmpty else {
            return AppError(
                .usage,
                "usage",
                "the name of a file is empty",
                next: "name a file, or - for standard input"
            )
        }
        return switch number {
        case ENOENT, ENOTDIR:
            AppError(.nothingFound, "file.not_found", "\(file): there is no such file", next: nameHint(file))
        case EACCES, EPERM:
            AppError(.permissionDenied, "file.denied", "\(file): you may not read it")
        default:
            AppError(.failed, "file.unreadable", "\(file): \(String(cString: strerror(number)))")
        }
    }

    /// A hint for a name that is not UTF-8: the command line passes its bytes as U+FFFD.
    private static func nameHint(_ file: String) -> String? {
        guard file.unicodeScalars.contains("\u{FFFD}") else { return nil }
        return "pairtool cannot open a name that is not UTF-8; give the file on standard input: - < FILE"
    }
}

extension CommandContext {
    /// The bytes of a file, or of standard input.
    ///
    /// - Parameter file: A path, or `-`.
    /// - Returns: Nil if there are more than `limit` bytes.
    /// - Throws: ``AppError`` if a file cannot be read: `file.not_found`, `file.denied`, `file.unreadable`.
    ///   `CancellationError` when the user interrupts.
    func content(of file: String = "-", limit: Int) async throws -> [UInt8]? {
        try await BlockingCall.run {
            file == "-" ? try stdin.readAll(limit: limit) : try InputFile.read(file, limit: limit)
        }
    }
}
