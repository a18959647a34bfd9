package import CompanionWire
package import FoundationEssentials
import GRDB

/// The messages of a chat, taken page by page as they are read.
extension HistoryStore {
    /// Takes a page of messages as the host returned it.
    ///
    /// Hosts change, remove and insert messages, which moves those after them. What is stored between two messages of
    /// the page and not in it, the host no longer has; what is stored before or after them moves with them.
    ///
    /// - Parameters:
    ///   - messages: Consecutive messages of the chat, oldest first.
    ///   - offset: The number of messages before the first; nil if the host does not tell. What no chat can have counts
    ///     as nil.
    ///   - after: The id of the message before the first, if it was just read; nil if that is not known.
    ///   - isEnd: Whether the page has the chat's last message.
    package func keep(
        messages: [CompanionMessage],
        offset: Int?,
        after: String? = nil,
        isEnd: Bool,
        chatID: String,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) {
        try await write { database in
            guard let chat = try Self.chatKey(chatID, of: host, in: database) else { return }
            let page = PageWriter(database: database, chat: chat, now: now.milliseconds)
            try page.write(
                messages.unique(by: \.id),
                offset: offset.flatMap { Self.places.contains($0) ? $0 : nil },
                after: after,
                isEnd: isEnd
            )
            if isEnd { try page.replaceOwn() }
            try Table("chat").filter(Column("key") == chat).updateAll(
                database,
                Column("readAt").set(to: now.milliseconds),
                Column("goneAt").set(to: nil),
                Column("readTo").set(to: Column(isEnd ? "updatedAt" : "readTo"))
            )
        }
    }

    /// The places that a message can have in its chat, whatever a host says.
    static let places = 0...1 << 40

    /// The key of a chat. One that was never listed is added without a title, and listed nowhere.
    static func chatKey(_ id: String, of host: HistoryHost, in database: Database) throws -> Int64? {
        guard id.isStorable else { return nil }
        let host = try key(of: host, in: database)
        if let known = try HistoryRows.chat(id, of: host).keys(database).first { return known }
        try database.execute(
            sql: "INSERT INTO chat (host, id, project, title, position) VALUES (?, ?, '', '', -1)",
            arguments: [host, id]
        )
        return database.lastInsertedRowID
    }
}

extension HistoryStore {
    /// A page of a chat as it was read last, oldest message first; nil if nothing of it was ever read.
    ///
    /// - Parameter cursor: How many stored messages to leave out.
    package func messages(
        hostID: String,
        chatID: String,
        cursor: Int,
        limit: Int
    ) async throws(HistoryError) -> Known<CompanionMessagesPageResponse>? {
        try await read { database in
            let chat = try HistoryRows.chat(chatID, ofHost: hostID).fetchOne(database)
            guard let chat, let read = chat.date("readAt") else { return nil }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT *, EXISTS (SELECT 1 FROM picture WHERE picture.message = message.key) AS hasPicture
                    FROM message WHERE chat = ? ORDER BY number, key LIMIT ? OFFSET ?
                    """,
                arguments: [chat["key"] as Int64, limit + 1, cursor]
            )
            let page = CompanionMessagesPageResponse(
                chatId: chatID,
                messages: rows.prefix(limit).map(Self.shownMessage),
                nextCursor: rows.count > limit ? String(cursor + limit) : nil
            )
            return Known(value: page, asOf: read)
        }
    }

    /// How many messages of a chat are stored.
    package func messageCount(hostID: String, chatID: String) async throws(HistoryError) -> Int {
        try await read { database in
            try HistoryRows.messages(ofChat: chatID, ofHost: hostID).fetchCount(database)
        }
    }

    /// How many messages of a chat, as far as is known, were never read.
    package func unreadCount(hostID: String, chatID: String) async throws(HistoryError) -> Int {
        try await read { database in
            let messages = HistoryRows.messages(ofChat: chatID, ofHost: hostID)
            return try messages.lastNumber(database).map { try $0 + 1 - messages.fetchCount(database) } ?? 0
        }
    }

    /// The projects of a host of which chats were read.
    package func readProjects(hostID: String) async throws(HistoryError) -> [String] {
        try await read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT DISTINCT project FROM chat JOIN host ON host.key = chat.host
                    WHERE host.id = ? AND readAt IS NOT NULL AND project <> '' AND \(Self.isListed) ORDER BY project
                    """,
                arguments: [hostID]
            )
        }
    }

    /// The chats of a host that were read to their end and have changed since, as the host listed them: those that
    /// changed last first, up to a number.
    package func changedChats(hostID: String, limit: Int) async throws(HistoryError) -> [String] {
        try await read { database in
            try HistoryRows.chats(ofHost: hostID)
                .filter(Column("readTo") != nil && Column("goneAt") == nil && Column("updatedAt") !== Column("readTo"))
                .order(Column("updatedAt").desc).limit(limit)
                .select(Column("id"), as: String.self).fetchAll(database)
        }
    }

    /// Returns the position from which to read on in a chat: the cursor and the ids of its last messages; nil if none
    /// was read.
    ///
    /// - Parameter count: The most ids. Default: 50.
    package func position(
        hostID: String,
        chatID: String,
        count: Int = 50
    ) async throws(HistoryError) -> (cursor: String, identifiers: [String])? {
        try await read { database in
            let rows = try HistoryRows.messages(ofChat: chatID, ofHost: hostID).filter(Column("isOwn") == 0)
                .select(Column("number"), Column("id")).order(Column("number").desc).limit(count).fetchAll(database)
            guard let oldest = rows.last else { return nil }
            // Messages that the host has removed move those after them, perhaps further than to the beginning.
            return ("\(max(0, oldest["number"] as Int))", rows.reversed().map { $0["id"] })
        }
    }

    /// A message of a participant says in its text that it has a picture, or was broken off.
    private static func shownMessage(_ row: Row) -> CompanionMessage {
        var message = message(row)
        let isBrokenOff = row["author"] as String? != nil && message.interrupted == true
        message.text = KeptChat.marked(message.text, picture: row["hasPicture"], brokenOff: isBrokenOff)
        if isBrokenOff { message.interrupted = nil }
        return message
    }

    static func message(_ row: Row) -> CompanionMessage {
        var message = CompanionMessage(
            id: row["id"],
            role: CompanionMessage.Role(rawValue: row["role"]),
            text: row["text"],
            createdAt: row.date("createdAt")
        )
        if row["interrupted"] { message.interrupted = true }
        return message
    }
}
