package import CompanionWire
package import FoundationEssentials
import GRDB

/// A chat, stored while it goes on. The host's own messages replace it when they are read.
extension HistoryStore {
    /// Writes down a prompt that the host has received.
    ///
    /// - Returns: The message for ``keepTool(_:of:)`` and ``keepAnswer(_:to:interrupted:at:)``; nil if the chat's id
    ///   cannot be stored.
    package func keepPrompt(
        _ text: String,
        chatID: String,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) -> MessageKey? {
        try await write { database in
            guard let chat = try Self.chatKey(chatID, of: host, in: database) else { return nil }
            return try Self.append("user", text: text, chat: chat, at: now, interrupted: false, in: database)
        }
    }

    /// Writes down a message of a chat that is nowhere but in the history.
    ///
    /// - Returns: The message for ``keepTool(_:of:)``; nil if the chat's id cannot be stored.
    package func keep(
        _ role: CompanionMessage.Role,
        text: String,
        chatID: String,
        of host: HistoryHost,
        at time: Date
    ) async throws(HistoryError) -> MessageKey? {
        try await write { database in
            guard let chat = try Self.chatKey(chatID, of: host, in: database) else { return nil }
            return try Self.append(
                role.rawValue,
                text: text,
                chat: chat,
                at: time,
                interrupted: false,
                isOwn: false,
                in: database
            )
        }
    }

    /// Writes down an answer.
    ///
    /// - Parameter interrupted: Whether this is only the beginning.
    package func keepAnswer(
        _ text: String,
        to prompt: MessageKey,
        interrupted: Bool,
        at now: Date
    ) async throws(HistoryError) {
        try await write { database in
            // The prompt is gone if the host's own messages were read meanwhile: they have the answer, or will have it.
            let chat = try Int64.fetchOne(
                database,
                sql: "SELECT chat FROM message WHERE key = ? AND id = ? AND isOwn = 1",
                arguments: [prompt.key, prompt.id]
            )
            guard let chat else { return }
            _ = try Self.append("assistant", text: text, chat: chat, at: now, interrupted: interrupted, in: database)
        }
    }

    private static func append(
        _ role: String,
        text: String,
        chat: Int64,
        at now: Date,
        interrupted: Bool,
        isOwn: Bool = true,
        in database: Database
    ) throws -> MessageKey {
        let id = "own-" + UUID().uuidString.lowercased()
        let last = try Int.fetchOne(
            database,
            sql: "SELECT max(number) FROM message WHERE chat = ?",
            arguments: [chat]
        )
        let time = now.milliseconds
        try database.execute(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, seenAt, interrupted, isOwn)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                chat, last.map { $0 + 1 } ?? 0, id, role.storable, text.storable, time, time, interrupted, isOwn,
            ]
        )
        let key = database.lastInsertedRowID
        try database.execute(sql: "UPDATE chat SET readAt = ? WHERE key = ?", arguments: [time, chat])
        return MessageKey(key: key, id: id)
    }

    /// Writes down that a tool began or ended while a prompt was answered.
    package func keepTool(_ tool: HistoryTool, of prompt: MessageKey) async throws(HistoryError) {
        try await write { database in
            let isThere = try Bool.fetchOne(
                database,
                sql: "SELECT EXISTS (SELECT 1 FROM message WHERE key = ? AND id = ?)",
                arguments: [prompt.key, prompt.id]
            )
            guard isThere == true else { return }
            let earlier = try Int64.fetchOne(
                database,
                sql: "SELECT key FROM tool WHERE message = ? AND id = ? AND success IS NULL ORDER BY key DESC",
                arguments: [prompt.key, tool.id.storable]
            )
            if let earlier {
                try database.execute(
                    sql: "UPDATE tool SET success = ?, detail = ? WHERE key = ?",
                    arguments: [tool.success, tool.detail.storable, earlier]
                )
                return
            }
            try database.execute(
                sql: """
                    INSERT INTO tool (message, id, name, detail, success, at) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    prompt.key, tool.id.storable, tool.name.storable, tool.detail.storable, tool.success,
                    tool.at.milliseconds,
                ]
            )
        }
    }
}

/// A message that was written down, for what belongs to it.
package struct MessageKey: Sendable {
    let key: Int64
    /// The database gives the key of a removed message to a later one, perhaps of another host; this id it has alone.
    let id: String
}

/// A tool that ran while a prompt was answered.
package struct HistoryTool: Codable, Sendable, Hashable {
    /// The id of the call; the tool's name if the host gives none.
    package var id: String
    package var name: String
    package var detail: String
    /// nil as long as it runs, and if its end was not seen.
    package var success: Bool?
    package var at: Date

    package init(id: String, name: String, detail: String = "", success: Bool?, at: Date) {
        (self.id, self.name, self.detail, self.success, self.at) = (id, name, detail, success, at)
    }
}
