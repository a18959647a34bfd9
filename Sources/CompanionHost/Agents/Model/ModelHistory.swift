import GRDB
import Providers

/// A message of a chat, for a model.
struct ModelMessage: Sendable, Hashable {
    var isFromUser: Bool
    var text: String
}

/// The newest messages of chats, from the host's database.
struct ModelHistory: Sendable {
    /// Messages of a chat that are looked at.
    static let count = 200
    /// Bytes of text that are read.
    static let size = 8 << 20

    let database: HostDatabase

    /// - Returns: Oldest first; the last is the prompt that is being answered.
    func messages(chatID: String) async throws -> [ModelMessage] {
        try await database.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT role, text FROM message
                    WHERE chat = (SELECT key FROM chat WHERE id = ?) ORDER BY number DESC LIMIT ?
                    """,
                arguments: [chatID, Self.count]
            )
            var messages: [ModelMessage] = []
            var size = 0
            while let row = try rows.next() {
                let role: String = row["role"]
                let text: String = row["text"]
                size += text.utf8.count
                guard messages.isEmpty || size <= Self.size else { break }
                messages.append(ModelMessage(isFromUser: role.utf8.elementsEqual("user".utf8), text: text))
            }
            return messages.reversed()
        }
    }
}
