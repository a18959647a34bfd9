import CompanionWire
package import FoundationEssentials
import GRDB

/// Chats that are in the history alone, or that are pulled into it as a whole. Their limits: ``prune(_:now:)``.
extension HistoryStore {
    /// A condition: whether the host has a chat, or something in it is kept here alone. One that was only listed, as it
    /// could not be read, is not there.
    private static let isThere =
        Column("goneAt") == nil && (Column("readAt") != nil || Column("participants") != nil)

    /// A host's chats without their messages, those that were changed last first. What the host no longer has is left
    /// out.
    package func keptChats(hostID: String) async throws(HistoryError) -> [KeptChat] {
        try await read { database in
            try HistoryRows.chats(ofHost: hostID).filter(Self.isThere)
                .order(Column("updatedAt").desc, Column("id").desc).fetchAll(database).map(Self.keptChat)
        }
    }

    /// A chat with its messages; nil if there is none, or if the host no longer has it.
    package func keptChat(id: String, hostID: String) async throws(HistoryError) -> KeptChat? {
        try await read { database in
            let row = try HistoryRows.chat(id, ofHost: hostID).filter(Self.isThere).fetchOne(database)
            guard let row else { return nil }
            var chat = Self.keptChat(row)
            chat.messages = try Row.fetchAll(
                database,
                sql: """
                    SELECT message.*, picture.data AS picture FROM message
                    LEFT JOIN picture ON picture.message = message.key
                    WHERE chat = ? ORDER BY number, message.key
                    """,
                arguments: [row["key"] as Int64]
            ).map { row in
                KeptMessage(
                    id: row["id"],
                    role: row["role"],
                    text: row["text"],
                    author: row["author"],
                    createdAt: row.date("createdAt"),
                    interrupted: row["interrupted"],
                    picture: (row["picture"] as Data?).map { Array($0) }
                )
            }
            return chat
        }
    }

    private static func keptChat(_ row: Row) -> KeptChat {
        KeptChat(
            id: row["id"],
            projectID: row["project"],
            title: row["title"],
            participants: KeptChat.participants(row["participants"]),
            createdAt: row.date("createdAt"),
            updatedAt: row.date("updatedAt")
        )
    }

    /// Returns the mark that was given to ``take(pulled:mark:of:at:)`` for the host's last pull; nil if there was none
    /// or its chats are no longer here.
    package func pulledMark(hostID: String) async throws(HistoryError) -> Int64? {
        try await read { database in try Self.note("pulled " + hostID, in: database) }
    }

    /// Takes all chats that a host has, in one transaction. What is kept here alone stays among what was pulled, by its
    /// time. Chats that the host no longer has are hidden, or what is kept here alone stays of them.
    ///
    /// - Parameter mark: Distinguishes these chats from those of later pulls.
    package func take(
        pulled chats: [KeptChat],
        mark: Int64,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) {
        try await writeDurably { database in
            let key = try Self.key(of: host, in: database)
            var pulled: Set<Int64> = []
            for chat in chats.unique(by: \.id) {
                let writer = try KeptChatWriter(chat, host: key, now: now.milliseconds, in: database)
                try writer.write(isPulled: true)
                pulled.insert(writer.key)
            }
            let listed = Table("chat").filter(Column("host") == key && Column("goneAt") == nil)
            let gone = try listed.filter(Column("isKept") == 0).keys(database).filter { !pulled.contains($0) }
            for chat in gone {
                try Table("chat").filter(Column("key") == chat)
                    .updateAll(database, Column("goneAt").set(to: now.milliseconds))
            }
            for chat in try listed.filter(Column("isKept") == 1).keys(database) where !pulled.contains(chat) {
                let messages = HistoryRows.messages(of: chat)
                try messages.filter(Column("isKept") == 0).deleteAll(database)
                // A gap would count as messages that were never read.
                for (number, key) in try messages.order(Column("number"), Column("key")).keys(database).enumerated() {
                    try KeptChatWriter.set(number: number, of: key, in: database)
                }
            }
            try Self.setNote("pulled " + host.id, to: mark, in: database)
        }
    }

    /// Adds messages that are kept here alone to a chat, by their times. Those that were added before are not doubled.
    ///
    /// - Parameters:
    ///   - chat: With the new messages. It is added if it is missing; else its title stays.
    ///   - pictures: How many pictures of such messages the chat keeps: the last ones.
    package func add(
        own chat: KeptChat,
        pictures: Int,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) {
        try await writeDurably { database in
            let key = try Self.key(of: host, in: database)
            let writer = try KeptChatWriter(chat, host: key, now: now.milliseconds, in: database)
            try writer.write(isPulled: false)
            try database.execute(
                sql: """
                    DELETE FROM picture WHERE message IN (
                        SELECT message.key FROM message JOIN picture ON picture.message = message.key
                        WHERE chat = ? AND isKept = 1 ORDER BY number DESC LIMIT -1 OFFSET ?
                    )
                    """,
                arguments: [writer.key, pictures]
            )
        }
    }
}

extension HistoryStore {
    /// Runs a transaction that survives a power cut once it has ended, because this may be the only copy.
    private func writeDurably(_ body: @escaping @Sendable (Database) throws -> Void) async throws(HistoryError) {
        try await writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
            try database.inTransaction(.immediate) {
                try body(database)
                return .commit
            }
        }
    }
}

/// Writes one chat.
private struct KeptChatWriter {
    let database: Database
    let chat: KeptChat
    let now: Int64
    /// Of the chat.
    let key: Int64

    static func set(number: Int, of message: Int64?, in database: Database) throws {
        try database.cachedStatement(sql: "UPDATE message SET number = ?1 WHERE key = ?2 AND number <> ?1")
            .execute(arguments: [number, message])
    }

    /// A message at its place.
    private struct Entry {
        var id: String
        var time: Int64?
        /// Of the stored message.
        var key: Int64?
        /// The message to write; nil if the stored message stays as it is.
        var message: KeptMessage?
    }

    /// A message that is stored.
    private struct Stored: FetchableRecord {
        var key: Int64
        var id: String
        var createdAt: Int64?
        var isKept: Bool

        init(row: Row) {
            (key, id, isKept) = (row["key"], row["id"], row["isKept"])
            createdAt = row["createdAt"]
        }

        var entry: Entry { Entry(id: id, time: createdAt, key: key) }
    }

    /// Makes sure of the chat.
    init(_ chat: KeptChat, host: Int64, now: Int64, in database: Database) throws {
        (self.database, self.chat, self.now) = (database, chat, now)
        // What the host no longer has does not come back with the chat.
        let stored = HistoryRows.chat(chat.id, of: host)
        if let gone = try stored.filter(Column("goneAt") != nil).keys(database).first {
            try HistoryRows.messages(of: gone).filter(Column("isKept") == 0).deleteAll(database)
        }
        try database.execute(
            sql: """
                INSERT INTO chat (host, id, project, title, updatedAt, position, createdAt, participants)
                VALUES (?, ?, ?, ?, ?, -1, ?, ?) ON CONFLICT (host, id) DO UPDATE SET
                    goneAt = NULL, title = iif(title = '' OR readAt IS NULL, excluded.title, title),
                    project = iif(project = '' OR readAt IS NULL, excluded.project, project),
                    participants = ifnull(participants, excluded.participants),
                    createdAt = ifnull(createdAt, excluded.createdAt),
                    updatedAt = max(ifnull(updatedAt, excluded.updatedAt), ifnull(excluded.updatedAt, updatedAt))
                """,
            arguments: [
                host, chat.id, chat.projectID, chat.title.storable, chat.updatedAt?.milliseconds,
                chat.createdAt?.milliseconds, KeptChat.stored(chat.participants),
            ]
        )
        guard let found = try stored.keys(database).first else {
            throw HistoryError(.unavailable, "the history cannot be written")
        }
        key = found
    }

    /// - Parameter isPulled: Whether the messages are all that the host has; else they are kept here alone.
    func write(isPulled: Bool) throws {
        if isPulled {
            try Table("chat").filter(Column("key") == key).updateAll(
                database,
                Column("title").set(to: chat.title.storable),
                Column("project").set(to: chat.projectID),
                Column("participants").set(to: KeptChat.stored(chat.participants))
            )
        }
        let stored = try HistoryRows.messages(of: key)
            .select(Column("key"), Column("id"), Column("createdAt"), Column("isKept"))
            .order(Column("number"), Column("key")).asRequest(of: Stored.self).fetchAll(database)
        let new = chat.messages.unique(by: \.id).map { message in
            Entry(id: message.id, time: message.createdAt?.milliseconds, message: message)
        }
        let known = Dictionary(stored.map { (ByteText($0.id), $0.key) }) { first, _ in first }
        let wanted = Dictionary(new.map { (ByteText($0.id), $0) }) { first, _ in first }
        var entries: [Entry]
        let added: [Entry]
        if isPulled {
            entries = new.map { entry in
                var entry = entry
                entry.key = known[ByteText(entry.id)]
                return entry
            }
            let rest = stored.filter { wanted[ByteText($0.id)] == nil }
            added = rest.filter(\.isKept).map(\.entry)
            let lost = rest.filter { !$0.isKept }.map { "\($0.key)" }
            try database.execute(sql: "DELETE FROM message WHERE key IN (\(lost.joined(separator: ",")))")
        } else {
            entries = stored.map { message in
                var entry = message.entry
                entry.message = wanted[ByteText(entry.id)]?.message
                return entry
            }
            added = new.filter { known[ByteText($0.id)] == nil }
        }
        for entry in added {
            // Behind everything that is not newer: pulled messages may lack a time, and keep their order.
            let place = entries.lastIndex { ($0.time ?? .min) <= (entry.time ?? .max) }
            entries.insert(entry, at: place.map { $0 + 1 } ?? 0)
        }
        for (number, entry) in entries.enumerated() { try write(entry, at: number, isKept: !isPulled) }
        try database.execute(
            sql: """
                UPDATE chat SET readAt = ?1, isKept = EXISTS (
                    SELECT 1 FROM message WHERE message.chat = ?2 AND message.isKept = 1
                ) WHERE key = ?2
                """,
            arguments: [now, key]
        )
    }

    private func write(_ entry: Entry, at number: Int, isKept: Bool) throws {
        guard let message = entry.message else {
            return try Self.set(number: number, of: entry.key, in: database)
        }
        let values: StatementArguments = [
            number, message.role.storable, message.createdAt?.milliseconds, message.interrupted,
            message.author?.storable, isKept,
        ]
        let row: Int64
        if let key = entry.key {
            row = key
            // Only a text that differs is indexed again.
            try database.cachedStatement(sql: "UPDATE message SET text = ?1 WHERE key = ?2 AND text <> ?1")
                .execute(arguments: [message.text.storable, key])
            try database.cachedStatement(
                sql: """
                    UPDATE message SET number = ?, role = ?, createdAt = ?, interrupted = ?, author = ?, isKept = ?
                    WHERE key = ?
                    """
            ).execute(arguments: values + [key])
        } else {
            try database.cachedStatement(
                sql: """
                    INSERT INTO message (number, role, createdAt, interrupted, author, isKept, chat, id, text, seenAt)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: values + [key, message.id, message.text.storable, now])
            row = database.lastInsertedRowID
        }
        if let picture = message.picture {
            try database.cachedStatement(
                sql: "INSERT INTO picture (message, data) VALUES (?, ?)"
                    + " ON CONFLICT (message) DO UPDATE SET data = excluded.data"
            ).execute(arguments: [row, Data(picture)])
        } else {
            try database.cachedStatement(sql: "DELETE FROM picture WHERE message = ?").execute(arguments: [row])
        }
    }
}
