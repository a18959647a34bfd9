import Dispatch
import FoundationEssentials
import Glibc

/// Watches one directory, without those in it, for files that have been written completely.
package enum DirectoryWatch {
    /// Watches while a body runs.
    ///
    /// - Parameters:
    ///   - existing: Whether files that are already there are told of too, by name.
    ///   - body: Gets what happens, by name. The stream ends with the error ``DesktopError/Code/directoryGone`` when
    ///     the directory is removed or renamed.
    /// - Throws: ``DesktopError`` with the code `noDirectory` or `watchLimit`, and what the body throws.
    package static func withEvents<R>(
        of directory: String,
        existing: Bool = false,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (AsyncThrowingStream<WatchedFiles.Output, any Error>) async throws -> R
    ) async throws -> R {
        let (stream, output) = AsyncThrowingStream.makeStream(of: WatchedFiles.Output.self)
        let watcher = try DirectoryWatcher(directory, existing: existing, output: output)
        watcher.start()
        defer { watcher.stop() }
        return try await body(stream)
    }

    /// The regular files of a directory, links followed; none where it cannot be read.
    package static func listing(of directory: String) -> [String: WatchedFiles.Signature] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.reduce(into: [:]) { $0[$1] = signature(of: "\(directory)/\($1)") }
    }

    /// How a file is now; nil where there is no regular file.
    package static func signature(of path: String) -> WatchedFiles.Signature? {
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return WatchedFiles.Signature(
            size: (attributes[.size] as? any BinaryInteger).map { Int($0) } ?? 0,
            modified: (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0,
            number: (attributes[.systemFileNumber] as? any BinaryInteger).map { UInt64($0) } ?? 0
        )
    }
}

/// The inotify descriptor, its timer, and what is known of the directory.
private final class DirectoryWatcher: @unchecked Sendable {
    // Safe because after `init` all that changes is touched on `queue` alone.

    private let directory: String
    private let output: AsyncThrowingStream<WatchedFiles.Output, any Error>.Continuation
    private let queue = DispatchQueue(label: "pairtool.watch")
    private let descriptor: Int32
    private let reader: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    private var files: WatchedFiles
    private var hasEnded = false

    init(
        _ directory: String,
        existing: Bool,
        output: AsyncThrowingStream<WatchedFiles.Output, any Error>.Continuation
    ) throws(DesktopError) {
        self.directory = directory
        self.output = output
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw Self.error(errno, of: directory) }
        guard inotify_add_watch(descriptor, directory, InotifyEvents.mask) >= 0 else {
            let reason = errno
            close(descriptor)
            throw Self.error(reason, of: directory)
        }
        // After the watch is there: nothing falls between the two.
        let listing = DirectoryWatch.listing(of: directory)
        files = WatchedFiles(known: existing ? [:] : listing)
        if existing { files.compare(listing, now: .now) }
        reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    func start() {
        reader.setEventHandler { [self] in read() }
        let descriptor = descriptor
        reader.setCancelHandler { close(descriptor) }
        timer.setEventHandler { [self] in tell() }
        reader.resume()
        timer.resume()
        queue.async { [self] in tell() }
    }

    func stop() {
        queue.async { [self] in end(nil) }
    }

    private func end(_ error: DesktopError?) {
        guard !hasEnded else { return }
        hasEnded = true
        reader.cancel()
        timer.cancel()
        // What they call keeps this object.
        reader.setEventHandler(handler: nil)
        timer.setEventHandler(handler: nil)
        output.finish(throwing: error)
    }

    private func read() {
        guard !hasEnded else { return }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            let events = buffer.withUnsafeBytes { InotifyEvents(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            let now = ContinuousClock.now
            for change in events.changes { files.take(change, now: now) }
            if events.hasOverflowed { files.compare(DirectoryWatch.listing(of: directory), now: now) }
            if events.hasEnded {
                tell()
                return end(
                    DesktopError(.directoryGone, message: "\(directory) is no longer there: it was removed or renamed")
                )
            }
        }
        tell()
    }

    private func tell() {
        guard !hasEnded else { return }
        for event in files.due(now: .now) {
            if case .complete(let name) = event {
                files.note(name, signature: DirectoryWatch.signature(of: "\(directory)/\(name)"))
            }
            output.yield(event)
        }
        guard let next = files.nextDue else { return }
        let seconds = (next - .now) / .seconds(1)
        timer.schedule(deadline: .now() + max(0, seconds), leeway: .milliseconds(5))
    }

    private static func error(_ reason: Int32, of directory: String) -> DesktopError {
        switch reason {
        case ENOSPC, EMFILE:
            DesktopError(
                .watchLimit,
                message: "the system watches no more files for you",
                remedy: "raise it: sudo sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024"
            )
        case ENOTDIR: DesktopError(.noDirectory, message: "\(directory) is not a directory")
        case ENOENT: DesktopError(.noDirectory, message: "there is no directory \(directory)")
        default:
            DesktopError(.noDirectory, message: "\(directory) cannot be watched: \(String(cString: strerror(reason)))")
        }
    }
}
