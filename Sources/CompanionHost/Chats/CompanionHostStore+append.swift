import CompanionWire
import FoundationEssentials
import GRDB

/// A message that is to be stored at the end of its chat.
struct MessageDraft: Sendable {
    var id = UUID().uuidString.lowercased()
    var role: CompanionMessage.Role
    var text: String
    var chatID: String
    /// The project of a new chat; an existing chat stays in its own.
    var projectID: String
    /// The title of a chat that has none yet.
    var title: String
    var at: Date
    /// Whether the host ended before the message was complete.
    var isInterrupted = false
}

extension CompanionHostStore {
    /// Adds a message to the end of a chat, which is made when it does not exist yet.
    ///
    /// - Parameters:
    ///   - project: The project of a new chat; an existing chat stays in its own.
    ///   - title: The title of a new chat.
    ///   - also: Further changes in the same transaction.
    @discardableResult
    func append(
        role: CompanionMessage.Role,
        text: String,
        chatID: String,
        project: ProjectCatalog.Project,
        title: String,
        also: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws(CompanionHostError) -> CompanionMessage {
        let draft = MessageDraft(
            role: role,
            text: text,
            chatID: chatID,
            projectID: project.id,
            title: title,
            at: clock.now()
        )
        _ = try await database.write { database -> String? in
            try also(database)
            return try Self.insert(draft, in: database)
        } committed: { [live] projectID in
            Self.announce(draft, projectID: projectID, to: live)
        }
        return CompanionMessage(id: draft.id, role: role, text: text, createdAt: draft.at)
    }

    /// Stores a message, within a transaction.
    ///
    /// - Returns: The id of the chat's project.
    @discardableResult
    static func insert(_ draft: MessageDraft, in database: Database) throws -> String? {
        let time = CompanionTimestamp.string(from: draft.at)
        try database.execute(
            sql: "INSERT INTO chat (id, project, title, updatedAt) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            arguments: [draft.chatID, draft.projectID, draft.title, time]
        )
        let statement = try database.cachedStatement(sql: "SELECT key, messages, project FROM chat WHERE id = ?")
        guard let chat = try Row.fetchOne(statement, arguments: [draft.chatID]) else { return nil }
        let key: Int64 = chat[0]
        try database.execute(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, interrupted)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            // As bytes: a bound text would end at its first NUL.
            arguments: [
                key, chat[1] as Int, draft.id, draft.role.rawValue, Data(draft.text.utf8), time, draft.isInterrupted,
            ]
        )
        try database.execute(
            sql: """
                UPDATE chat SET messages = messages + 1, updatedAt = ?,
                    title = CASE title WHEN '' THEN ? ELSE title END
                WHERE key = ?
                """,
            arguments: [time, draft.title, key]
        )
        try database.execute(
            sql: "UPDATE project SET updatedAt = ? WHERE id = ?",
            arguments: [time, chat[2] as String]
        )
        return chat[2]
    }

    /// Tells the live connections of a message. To be called once it is stored.
    static func announce(_ draft: MessageDraft, projectID: String?, to live: LiveEventBroadcaster) {
        live.publish(
            LiveEvent(
                .messageCreated,
                at: draft.at,
                projectId: projectID,
                chatId: draft.chatID,
                messageId: draft.id
            )
        )
        live.publish(LiveEvent(.chatChanged, at: draft.at, projectId: projectID, chatId: draft.chatID))
    }
}
