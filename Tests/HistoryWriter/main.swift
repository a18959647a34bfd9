import CompanionWire
import FoundationEssentials
import Glibc
import History

/// Works on a history until it is killed, for tests.
///
///     history-writer FILE write NAME COUNT    writes pages to the chat NAME
///     history-writer FILE import ARCHIVE      imports what was exported
///     history-writer FILE prune               removes what is older than a day
///
/// Prints a line after each page that is stored, and for each hundred lines that an import reads.
let arguments = CommandLine.arguments
let store = try HistoryStore(path: arguments[1])
let now = Date(timeIntervalSince1970: 1_700_000_000)

/// Not buffered: what is printed has happened.
@Sendable func report() { _ = write(STDOUT_FILENO, "\n", 1) }

func writePages(_ name: String, _ count: Int) async throws {
    let host = HistoryHost(id: "0123456789abcdef", name: "Mac of Ada", family: .copilotforge)
    for number in 0..<count {
        let messages = (0..<20).map { index in
            CompanionMessage(
                id: "\(name)-\(number * 20 + index)",
                role: index.isMultiple(of: 2) ? .user : .assistant,
                text: "water \(name) \(number) " + String(repeating: "pump ", count: index),
                createdAt: nil
            )
        }
        try await store.keep(
            messages: messages,
            offset: number * 20,
            isEnd: true,
            chatID: "chat \(name)",
            of: host,
            at: now
        )
        report()
    }
}

func importArchive(_ path: String) async throws {
    let lines = try Data(contentsOf: URL(filePath: path)).split(separator: 10)
    _ = try await store.importArchive(at: now) {
        var (rest, read) = (lines[...], 0)
        return {
            read += 1
            if read.isMultiple(of: 100) { report() }
            return try rest.popFirst().map { try CompanionJSON.decoder().decode(HistoryArchive.Line.self, from: $0) }
        }
    }
}

switch arguments[2] {
case "write": try await writePages(arguments[3], Int(arguments[4]) ?? 0)
case "import": try await importArchive(arguments[3])
default: _ = try await store.prune(HistoryLimits(age: 86_400, size: .max), now: now)
}
