package import CompanionWire
package import FoundationEssentials

/// The messages of a chat from this machine. The server does not return them.
package struct AICLITranscript: Codable, Sendable, Hashable {
    /// The most messages; older ones are removed.
    package static let mostMessages = 1000

    package var version = 1
    package private(set) var messages: [CompanionMessage] = []
    /// How many older messages were removed. Ids and cursors count from the first message.
    private var removed = 0

    package init() {}

    package mutating func append(_ role: CompanionMessage.Role, _ text: String, at date: Date) {
        let number = removed + messages.count
        messages.append(CompanionMessage(id: "m\(number)", role: role, text: text, createdAt: date))
        let excess = messages.count - Self.mostMessages
        guard excess > 0 else { return }
        messages.removeFirst(excess)
        removed += excess
    }

    /// - Parameter cursor: The number of a message, counted from the chat's first message.
    package func page(chatID: String, cursor: String?, limit: Int) -> CompanionMessagesPageResponse {
        let start = max(0, (cursor.flatMap(Int.init) ?? 0) - removed)
        let page = messages.dropFirst(start).prefix(min(max(limit, 1), 200))
        let end = start + page.count
        return CompanionMessagesPageResponse(
            chatId: chatID,
            messages: Array(page),
            nextCursor: end < messages.count && !page.isEmpty ? "\(removed + end)" : nil
        )
    }
}
