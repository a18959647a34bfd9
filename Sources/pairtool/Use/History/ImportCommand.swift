import ArgumentParser
import History
import LocalState

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add chats that were exported as JSON to the history.",
        discussion: """
            What is there already stays as it is, so the same file can be imported twice. A file with a fault is not \
            imported at all. Files of any size can be imported.

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
        let imported = try await output.withHistory { history in
            let archive = try await BlockingCall.run { try ArchiveFile(file, output.context) }
            return try await history.store.importArchive(at: output.context.now()) { archive.reader() }
        }
        let row = Row(chats: imported.chats, messages: imported.messages, known: imported.known)
        output.result(row, id: nil) {
            "Imported \(row.messages) messages and \(row.chats) chats"
                + (row.known > 0 ? "; \(row.known) messages were there already." : ".")
        }
    }
}
