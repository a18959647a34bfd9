import ArgumentParser
import CompanionWire
import FoundationEssentials
import History
import NIOConcurrencyHelpers

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add chats that were exported as JSON to the history.",
        discussion: """
            What is there already stays as it is, so the same file can be imported twice. A file with a fault is not \
            imported at all.

            Examples:
              pairtool import chats.jsonl
              pairtool import - < chats.jsonl
            """
    )

    @Argument(help: "The file; - for standard input.", completion: .file())
    var file: String

    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var chats: Int
        var messages: Int
        /// Messages that were there before.
        var known: Int
    }

    func run() async throws {
        let output = options.output
        guard let bytes = try await output.context.content(of: file, limit: HistoryArchive.sizeLimit) else {
            throw CommandError(
                .failed,
                "history.bad_archive",
                "the file has more than \(HistoryArchive.sizeLimit >> 20) MiB; nothing was imported"
            )
        }
        let lines = ArchiveLines(bytes)
        let imported = try await output.withHistory { history in
            try await history.store.importArchive(at: output.context.now()) { try lines.next() }
        }
        let row = Row(chats: imported.chats, messages: imported.messages, known: imported.known)
        output.result(row, id: nil) {
            "Imported \(row.messages) messages and \(row.chats) chats"
                + (row.known > 0 ? "; \(row.known) messages were there already." : ".")
        }
    }
}

/// The lines of an exported file, decoded one after the other.
private final class ArchiveLines: Sendable {
    private let bytes: [UInt8]
    private let place = NIOLockedValueBox((index: 0, line: 0))

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Throws: `HistoryError` for a line that is not of the format.
    func next() throws -> HistoryArchive.Line? {
        let (range, number): (Range<Int>?, Int) = place.withLockedValue { place in
            while place.index < bytes.count {
                let start = place.index
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                place = (end + 1, place.line + 1)
                if end > start { return (start..<end, place.line) }
            }
            return (nil, place.line)
        }
        guard let range else { return nil }
        do {
            guard range.count <= HistoryArchive.lineLimit else { throw CancellationError() }
            return try CompanionJSON.decode(HistoryArchive.Line.self, fromPeer: Data(bytes[range]))
        } catch {
            throw HistoryError(
                .badArchive,
                "line \(number) of the file is not what pairtool exports; nothing was imported",
                remedy: "export it as JSON: pairtool export --all --format json -o FILE"
            )
        }
    }
}
