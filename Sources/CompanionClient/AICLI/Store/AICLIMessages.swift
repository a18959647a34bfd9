import CompanionWire
import FoundationEssentials
import History

/// The messages of a server's chats. They are in the history alone, as servers do not return them: without a history,
/// there are none.
package struct AICLIMessages: Sendable {
    private let store: AICLIStore
    /// nil if the user wants no history.
    let recorder: HistoryRecorder?

    /// Without a recorder, no message is kept.
    package init(_ store: AICLIStore, recorder: HistoryRecorder?) {
        (self.store, self.recorder) = (store, recorder)
    }

    /// Adds a message to the chat of a directory.
    ///
    /// - Returns: The message for ``keep(_:of:)``; nil if it was not kept.
    func say(_ role: CompanionMessage.Role, text: String, at date: Date, in directory: String) async -> MessageKey? {
        guard let recorder else { return nil }
        let chatID = AICLISessionTable.chatID(for: directory)
        if role == .user, let project = await projects().first(where: { $0.localPath.isSame(as: directory) }) {
            var chat = project.onlyChat
            chat.lastUpdatedAt = date
            await recorder.keep(chat: chat)
        }
        return await recorder.history.use { history throws(HistoryError) in
            try await history.keep(role, text: text, chatID: chatID, of: recorder.host, at: date)
        } ?? nil
    }

    /// Adds a tool, or its end, to a message.
    func keep(_ tool: HistoryTool, of message: MessageKey) async {
        guard let recorder else { return }
        await recorder.history.use { history throws(HistoryError) in try await history.keepTool(tool, of: message) }
    }

    func page(chatID: String, cursor: String?, limit: Int) async throws -> CompanionMessagesPageResponse {
        let none = CompanionMessagesPageResponse(chatId: chatID, messages: [], nextCursor: nil)
        guard let recorder else { return none }
        let start = max(0, cursor.flatMap { Int($0) } ?? 0)
        let known = await recorder.history.use { history throws(HistoryError) in
            try await history.messages(
                hostID: recorder.host.id,
                chatID: chatID,
                cursor: start,
                limit: min(max(limit, 1), 200)
            )
        }
        return (known ?? nil)?.value ?? none
    }

    /// The projects of the server, as the history knows them.
    private func projects() async -> [CompanionProject] {
        guard let recorder else { return [] }
        let known = await recorder.history.use { history throws(HistoryError) in
            try await history.projects(hostID: recorder.host.id)?.value
        }
        return (known ?? nil) ?? []
    }
}
