import CompanionWire
import FoundationEssentials

/// Writes chats in a format.
package protocol ChatWriter {
    /// The text before all chats.
    var beginning: String { get }
    /// The text before the messages of a chat.
    mutating func begin(_ chat: HistoryChat) -> String
    /// A message of the chat that was begun last.
    mutating func text(_ message: HistoryMessage) -> String
}

extension ChatWriter {
    package var beginning: String { "" }

    /// Writes chats with their messages, a page of these at a time.
    ///
    /// - Parameter put: Gets each piece of text.
    /// - Throws: `HistoryError`, `CancellationError`, and what `put` throws.
    package func write(
        _ chats: [HistoryChat],
        of store: HistoryStore,
        to put: (String) async throws -> Void
    ) async throws {
        var writer = self
        try await put(writer.beginning)
        for chat in chats {
            try await put(writer.begin(chat))
            var last: HistoryMessage?
            repeat {
                let page = try await store.messages(of: chat, after: last)
                if !page.isEmpty { try await put(page.map { writer.text($0) }.joined()) }
                last = page.last
                try Task.checkCancellation()
            } while last != nil
        }
    }

    /// `project, host, 2026-05-31 14:00:00`
    func place(_ chat: HistoryChat) -> String {
        ([chat.project?.name, chat.host.name, chat.chat.lastUpdatedAt.map(time)] as [String?]).compactMap(\.self)
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    func title(_ chat: HistoryChat) -> String { chat.chat.title.isEmpty ? chat.chat.id : chat.chat.title }

    func who(_ message: HistoryMessage) -> String {
        let role = message.message.role == .user ? "you" : message.message.role.rawValue
        return role + (message.message.createdAt.map { ", \(time($0))" } ?? "")
            + (message.message.interrupted == true ? ", interrupted" : "")
    }

    func line(_ tool: HistoryTool) -> String {
        let end = tool.success.map { $0 ? "done" : "failed" } ?? "end unknown"
        return "\(tool.name), \(time(tool.at)): \(end)" + (tool.detail.isEmpty ? "" : ": \(tool.detail)")
    }

    func time(_ date: Date) -> String { LocalTime.text(date) }
}
