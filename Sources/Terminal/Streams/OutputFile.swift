import CompanionWire
import Glibc
import LocalState

/// Writes files that the user names.
package enum OutputFile {
    /// The outcome of writing.
    package enum Outcome: Sendable {
        /// A new file that only its owner may read; it replaced a file or was created.
        case replaced
        /// The bytes were written to what exists at the path, such as a pipe or a device.
        case writtenThrough
    }

    /// Writes as other tools do. A file gets its new content in one step, and links are followed. Anything that is not
    /// a regular file (a named pipe, a device) gets the bytes and stays. Blocks until a named pipe has a reader.
    ///
    /// - Throws: ``NamedFileError`` with the code `unwritable`: a directory, a socket, a block device, a dangling
    ///   link, a pipe of another user, or a path that the user may not write to. `CancellationError` when the user
    ///   interrupts the wait for a pipe's reader.
    package static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws -> Outcome {
        switch try place(path) {
        case .file(let target):
            try replace(target, with: bytes)
            return .replaced
        case .opened(let descriptor, let isOurs):
            defer { if isOurs { close(descriptor) } }
            try write(bytes, to: descriptor, named: path)
            return .writtenThrough
        }
    }

    /// The target of a path.
    fileprivate enum Place {
        /// A file that is replaced as a whole, or is not there yet.
        case file(String)
        /// - Parameter isOurs: Whether it was opened here, and is to be closed.
        case opened(Int32, isOurs: Bool)
    }

    fileprivate static func place(_ path: String) throws -> Place {
        if let descriptor = ownDescriptor(path) { return .opened(descriptor, isOurs: false) }
        guard let status = FileStatus(path) else {
            guard FileStatus(path, followingLinks: false) == nil else {
                throw failure(path, reason: "it is a link that leads nowhere")
            }
            return .file(path)
        }
        switch status.kind {
        case .directory: throw failure(path, reason: "it is a directory")
        case .link, .socket, .other:
            throw failure(path, reason: "it is neither a file nor a pipe nor a character device")
        case .file, .pipe, .characterDevice: break
        }
        let descriptor = try open(path)
        var isUsed = false
        defer { if !isUsed { close(descriptor) } }
        guard let opened = FileStatus(descriptor: descriptor), opened.isSameFile(as: status) else {
            throw failure(path, reason: "something else has replaced it")
        }
        guard opened.kind != .file else { return .file(try target(of: path)) }
        // In a directory that everybody may write to, another user's pipe may be there to intercept the output.
        guard opened.kind != .pipe || opened.owner == geteuid() else {
            throw failure(path, reason: "it is a pipe of another user")
        }
        isUsed = true
        return .opened(descriptor, isOurs: true)
    }

    /// The path of a file that will be replaced as a whole, later or more than once: the end of all links, or the path
    /// itself if nothing exists there. What exists there may be anything but a link.
    ///
    /// - Throws: ``NamedFileError`` with the code `unwritable`: a dangling link, a descriptor of this process, a
    ///   directory where the user may not create files.
    package static func destination(_ path: String) throws -> String {
        guard !path.isEmpty else { throw failure("“”", reason: "it is not a file name") }
        guard ownDescriptor(path) == nil else { throw failure(path, reason: "it is an open descriptor, not a file") }
        guard FileStatus(path, followingLinks: false) == nil || FileStatus(path) != nil else {
            throw failure(path, reason: "it is a link that leads nowhere")
        }
        let target = FileStatus(path) == nil ? path : try target(of: path)
        guard access(PrivateFile.directory(of: target), W_OK | X_OK) == 0 else { throw failure(path) }
        return target
    }

    /// Replaces what is at a path by a file that only its owner may read. A link is replaced, not followed.
    ///
    /// - Parameter isDurable: Whether to wait until the content is on the disk. Not needed for a file that can be
    ///   created again. Default: false.
    /// - Throws: ``NamedFileError`` with the code `unwritable`.
    package static func replace(_ path: String, with bytes: UnsafeRawBufferPointer, isDurable: Bool = false) throws {
        try named(path) { () throws(PrivateFile.Failure) in
            try PrivateFile.write(bytes, to: path, makesDirectory: false, isDurable: isDurable)
        }
    }

    /// Whether a path leads to the file that standard output goes to, such as `/dev/stdout` or `/dev/fd/1`.
    package static func isStandardOutput(_ path: String) -> Bool {
        guard let status = FileStatus(path), let output = FileStatus(descriptor: STDOUT_FILENO) else { return false }
        return status.isSameFile(as: output)
    }

    /// The number of this process's descriptor that a path stands for, such as `/dev/fd/3` or `/dev/stderr`. Output
    /// goes to that descriptor, at its present position; the file behind it must not be replaced.
    private static func ownDescriptor(_ path: String) -> Int32? {
        var path = path
        // The kernel follows at most 40 links.
        for _ in 0..<40 {
            let name = path.parts("/").last.map(String.init) ?? ""
            let parent = String(path.dropLast(name.count))
            guard let directory = RealPath.of(parent.isEmpty ? "." : parent) else { return nil }
            if directory == "/proc/\(getpid())/fd" { return Int32(name) }
            var link = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("\(directory)/\(name)", &link, link.count)
            guard count > 0 else { return nil }
            let target = String(decoding: link[..<count], as: UTF8.self)
            path = target.begins(with: "/") ? target : "\(directory)/\(target)"
        }
        return nil
    }

    /// The path after following all links.
    private static func target(of path: String) throws -> String {
        guard let target = RealPath.of(path) else { throw failure(path) }
        return target
    }

    /// Opens an existing file for writing. Neither creates nor truncates.
    private static func open(_ path: String) throws -> Int32 {
        while true {
            let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            if descriptor >= 0 { return descriptor }
            if errno == EINTR { continue }
            // A pipe without a reader. Opening it without `O_NONBLOCK` would wait, and could not be interrupted.
            guard errno == ENXIO, FileStatus(path)?.kind == .pipe else { throw failure(path) }
            try Interrupts.shared.pause(milliseconds: 50)
        }
    }

    fileprivate static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, named path: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try Interrupts.shared.wait(for: descriptor, events: POLLOUT)
            } else if errno != EINTR {
                throw failure(path)
            }
        }
    }

    private static func failure(_ path: String, reason: String = PrivateFile.systemMessage()) -> NamedFileError {
        NamedFileError(.unwritable, file: path, "\(path) cannot be written to: \(reason)")
    }

    /// Runs a body whose failure names the file already.
    fileprivate static func named<R>(_ path: String, _ body: () throws(PrivateFile.Failure) -> R) throws -> R {
        do throws(PrivateFile.Failure) {
            return try body()
        } catch {
            throw NamedFileError(.unwritable, file: path, error.description)
        }
    }
}

/// Writes a file piece by piece, otherwise as ``OutputFile/write(_:to:)`` does: a file gets its new content once it is
/// complete. Blocks.
package final class OutputDraft: @unchecked Sendable {
    // Safe because: one task writes, one piece after the other.
    private let path: String
    private let place: OutputFile.Place
    private let draft: PrivateFile.Draft?

    /// - Throws: ``NamedFileError`` with the code `unwritable`, as the methods do.
    package init(_ path: String) throws {
        self.path = path
        place = try OutputFile.place(path)
        guard case .file(let target) = place else {
            draft = nil
            return
        }
        draft = try OutputFile.named(path) { () throws(PrivateFile.Failure) in try PrivateFile.Draft(target) }
    }

    deinit {
        if case .opened(let descriptor, isOurs: true) = place { close(descriptor) }
    }

    /// Writes the next piece.
    package func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            if case .opened(let descriptor, _) = place {
                try OutputFile.write(bytes, to: descriptor, named: path)
            } else {
                try OutputFile.named(path) { () throws(PrivateFile.Failure) in try draft?.write(bytes) }
            }
        }
    }

    /// Puts the file in its place, once everything is written. Without this, what was there stays.
    package func finish() throws {
        try OutputFile.named(path) { () throws(PrivateFile.Failure) in try draft?.finish(isDurable: false) }
    }
}
