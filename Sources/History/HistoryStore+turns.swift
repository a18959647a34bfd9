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
            let chat = try prompt.rows.filter(Column("isOwn") == 1).select(Column("chat"), as: Int64.self)
                .fetchOne(database)
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
        let last = try HistoryRows.messages(of: chat).lastNumber(database)
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
        try Table("chat").filter(Column("key") == chat).updateAll(database, Column("readAt").set(to: time))
        return MessageKey(key: key, id: id)
    }

    /// Writes down that a tool began or ended while a prompt was answered.
    package func keepTool(_ tool: HistoryTool, of prompt: MessageKey) async throws(HistoryError) {
        try await write { database in
            guard try !prompt.rows.isEmpty(database) else { return }
            let record = ToolRecord(
                message: prompt.key,
                id: tool.id.storable,
                name: tool.name.storable,
                detail: tool.detail.storable,
                success: tool.success,
                at: tool.at.milliseconds
            )
            let running = Table("tool").filter(Column("message") == record.message && Column("id") == record.id)
                .filter(Column("success") == nil).order(Column("key").desc)
            guard let earlier = try running.keys(database).first else { return try record.insert(database) }
            try Table("tool").filter(Column("key") == earlier).updateAll(
                database,
                Column("success").set(to: record.success),
                Column("detail").set(to: record.detail)
            )
        }
    }
}

/// A tool as it is stored.
private struct ToolRecord: Encodable, PersistableRecord {
    static let databaseTableName = "tool"

    var message: Int64
    var id: String
    var name: String
    var detail: String
    var success: Bool?
    var at: Int64
}

/// A message that was written down, for what belongs to it.
package struct MessageKey: Sendable {
    let key: Int64
    /// The database gives the key of a removed message to a later one, perhaps of another host; this id it has alone.
    let id: String

    /// The message, unless it was removed.
    fileprivate var rows: QueryInterfaceRequest<Row> {
        Table("message").filter(Column("key") == key && Column("id") == id)
    }
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
