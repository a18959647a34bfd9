import CompanionWire
import FoundationEssentials
import Glibc
import History

/// Works on a history until it is done or killed, for tests and benchmarks.
///
///     history-writer FILE write NAME COUNT    writes pages to the chat NAME
///     history-writer FILE fill CHATS          writes the chats of a file: in each line {"id", "title", "messages"}, whose
///                                             texts are prompts and answers in turn
///     history-writer FILE prune TIME          removes what is older than a day; is killed once that has taken it so many
///                                             microseconds of the processor, 0 for never
///
/// Prints a line after each page that is stored.
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

struct Chat: Decodable {
    var id: String
    var title: String
    var messages: [String]
}

/// Writes the chats as those of a host that was listed and read to the end.
func fill(_ path: String) async throws {
    let host = HistoryHost(id: "0123456789abcdef", name: "Studio", family: .copilotforge)
    let chats = try Data(contentsOf: URL(filePath: path)).split(separator: 10).map { line in
        try CompanionJSON.decoder().decode(Chat.self, from: Data(line))
    }
    let project = CompanionProject(id: "p", name: "garden", localPath: "/garden", lastUpdatedAt: now)
    try await store.keep(projects: [project], of: host, at: now)
    let listed = chats.map { CompanionChat(id: $0.id, projectId: "p", title: $0.title, lastUpdatedAt: now) }
    try await store.keep(chats: listed, projectID: "p", of: host, at: now)
    for chat in chats {
        let messages = chat.messages.enumerated().map { number, text in
            CompanionMessage(
                id: "\(chat.id)-\(number)",
                role: number.isMultiple(of: 2) ? .user : .assistant,
                text: text,
                createdAt: nil
            )
        }
        try await store.keep(messages: messages, offset: 0, isEnd: true, chatID: chat.id, of: host, at: now)
        report()
    }
}

switch arguments[2] {
case "write": try await writePages(arguments[3], Int(arguments[4]) ?? 0)
case "fill": try await fill(arguments[3])
default:
    // Whatever else the machine does: a signal that nobody catches.
    let time = timeval(tv_sec: 0, tv_usec: Int(arguments[3]) ?? 0)
    var timer = itimerval(it_interval: timeval(), it_value: time)
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    _ = try await store.prune(HistoryLimits(age: 86_400, size: .max), now: now)
}
