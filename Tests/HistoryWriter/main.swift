import CompanionWire
import FoundationEssentials
import Glibc
import History

/// Writes to a history until it is killed, for tests. Prints a number after each write that is stored.
///
///     history-writer FILE NAME COUNT
let arguments = CommandLine.arguments
let store = try HistoryStore(path: arguments[1])
let name = arguments[2]
let host = HistoryHost(id: "0123456789abcdef", name: "Mac of Ada", family: .copilotforge)
for number in 0..<(Int(arguments[3]) ?? 0) {
    let messages = (0..<20).map { index in
        CompanionMessage(
            id: "\(name)-\(number * 20 + index)",
            role: index.isMultiple(of: 2) ? .user : .assistant,
            text: "water \(name) \(number) " + String(repeating: "pump ", count: index),
            createdAt: nil
        )
    }
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    try await store.keep(
        messages: messages,
        offset: number * 20,
        isEnd: true,
        chatID: "chat \(name)",
        of: host,
        at: now
    )
    // Not buffered: what is printed is stored.
    let line = Array("\(number)\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}
