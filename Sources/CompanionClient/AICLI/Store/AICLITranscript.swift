package import CompanionWire
package import FoundationEssentials

/// What was said in a chat from this machine: the server tells nobody.
package struct AICLITranscript: Codable, Sendable, Hashable {
    /// The most messages; older ones go.
    package static let mostMessages = 1000

    package var version = 1
    package private(set) var messages: [CompanionMessage] = []
    /// How many messages there were before the oldest: ids and cursors count from the first one.
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

    /// - Parameter cursor: The number of a message, from the first one that there ever was.
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
