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
    /// The model that is to answer; nil leaves the chat's as it is.
    var model: String?
}

extension CompanionHostStore {
    /// Adds a message to the end of a chat, which is made when it does not exist yet.
    ///
    /// - Parameters:
    ///   - project: The project of a new chat; an existing chat stays in its own.
    ///   - title: The title of a new chat.
    ///   - model: The model that is to answer.
    ///   - also: Further changes in the same transaction.
    @discardableResult
    func append(
        role: CompanionMessage.Role,
        text: String,
        chatID: String,
        project: ProjectCatalog.Project,
        title: String,
        model: String? = nil,
        also: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws(CompanionHostError) -> CompanionMessage {
        let draft = MessageDraft(
            role: role,
            text: text,
            chatID: chatID,
            projectID: project.id,
            title: title,
            at: clock.now(),
            model: model
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
        try ChatRecord(id: draft.chatID, project: draft.projectID, title: draft.title, updatedAt: draft.at)
            .insert(database, onConflict: .ignore)
        guard var chat = try ChatRecord.fetchOne(database, key: ["id": draft.chatID]) else { return nil }
        try database.execute(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, interrupted)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            // As bytes: a bound text would end at its first NUL.
            arguments: [
                chat.key, chat.messages, draft.id, draft.role.rawValue, Data(draft.text.utf8), time,
                draft.isInterrupted,
            ]
        )
        chat.messages += 1
        chat.updatedAt = draft.at
        if chat.title.isEmpty { chat.title = draft.title }
        if let model = draft.model { chat.model = model }
        chat.draftOf = nil
        try chat.update(database, columns: ["messages", "updatedAt", "title", "model", "draftOf"])
        try Table("project").filter(key: chat.project).updateAll(database, Column("updatedAt").set(to: time))
        return chat.project
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
