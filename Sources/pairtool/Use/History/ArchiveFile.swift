import CompanionWire
import FoundationEssentials
import Glibc
import History
import LocalState

/// An exported file, of which no more than a line and a chunk are in memory. It can be read several times: what can be
/// read only once is copied to a file without a name first.
final class ArchiveFile: Sendable {
    private let descriptor: Int32
    private let name: String

    /// Blocks.
    ///
    /// - Parameter name: A path; `-` for standard input.
    /// - Throws: ``CommandError``; `CancellationError` when the user interrupts.
    init(_ name: String, _ context: CommandContext) throws {
        self.name = name
        guard name != "-" else {
            descriptor = try Self.copy(context) { try context.stdin.readSome()?[...] }
            return
        }
        let source = try InputFile.open(name)
        guard FileStatus(descriptor: source)?.kind != .file else {
            descriptor = source
            return
        }
        defer { close(source) }
        descriptor = try Self.copy(context) { try InputFile.readSome(source, isFile: false, name) }
    }

    deinit {
        close(descriptor)
    }

    private static func copy(_ context: CommandContext, _ next: () throws -> ArraySlice<UInt8>?) throws -> Int32 {
        let directory = context.paths.state
        var copy: Int32 = -1
        do {
            copy = try PrivateFile.unnamed(in: directory)
            while let chunk = try next() { try PrivateFile.write(Array(chunk), to: copy, named: directory) }
            return copy
        } catch {
            if copy >= 0 { close(copy) }
            guard let failure = error as? PrivateFile.Failure else { throw error }
            throw CommandError(.failed, "file.unwritable", "\(directory) cannot be written to: \(failure.reason)")
        }
    }

    /// Reads from the beginning.
    func reader() -> HistoryArchive.Reader {
        var lines = ArchiveLines { [self] offset, most in try bytes(at: offset, most: most) }
        return { try lines.next() }
    }

    private func bytes(at offset: Int, most: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            repeat { count = pread(descriptor, buffer.baseAddress, most, offset) } while count < 0 && errno == EINTR
            guard count < 0 else { return }
            count = 0
            throw CommandError.unreadable(name, errno)
        }
    }
}

/// The lines of an exported file, decoded one after the other.
private struct ArchiveLines {
    private static let chunk = 256 << 10

    /// Reads at most so many bytes from a place on; none at the end.
    let read: (_ offset: Int, _ most: Int) throws -> [UInt8]
    private var buffer: [UInt8] = []
    /// The beginning of the next line in the buffer, and what is behind the buffer in the file.
    private var (start, offset) = (0, 0)
    private var isAtEnd = false
    private var number = 0

    init(read: @escaping (Int, Int) throws -> [UInt8]) {
        self.read = read
    }

    /// - Throws: `HistoryError` for a line that is not of the format; what reading throws.
    mutating func next() throws -> HistoryArchive.Line? {
        while let line = try nextLine() {
            guard !line.isEmpty else { continue }
            do {
                return try CompanionJSON.decode(HistoryArchive.Line.self, fromPeer: line)
            } catch {
                throw foreign(number)
            }
        }
        return nil
    }

    private mutating func nextLine() throws -> Data? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return take(upTo: end)
            }
            searched = buffer.count - start
            guard searched <= HistoryArchive.lineLimit else { throw foreign(number + 1) }
            if isAtEnd { return searched > 0 ? take(upTo: buffer.count) : nil }
            buffer.removeSubrange(..<start)
            start = 0
            let more = try read(offset, Self.chunk)
            offset += more.count
            isAtEnd = more.isEmpty
            buffer += more
        }
    }

    private mutating func take(upTo end: Int) -> Data {
        defer { start = min(end + 1, buffer.count) }
        number += 1
        return Data(buffer[start..<end])
    }

    private func foreign(_ number: Int) -> HistoryError {
        HistoryError(
            .badArchive,
            "line \(number) of the file is not what pairtool exports; nothing was imported",
            remedy: "export it as JSON: pairtool export --all --format json -o FILE"
        )
    }
}
