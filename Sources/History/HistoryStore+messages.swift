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
    ///   - offset: The number of messages before the first; nil if the host does not tell.
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
            try page.write(messages.unique(by: \.id), offset: offset, after: after, isEnd: isEnd)
            try database.execute(
                sql: "UPDATE chat SET readAt = ?, goneAt = NULL WHERE key = ?",
                arguments: [now.milliseconds, chat]
            )
        }
    }

    /// The key of a chat. One that was never listed is added without a title, and listed nowhere.
    static func chatKey(_ id: String, of host: HistoryHost, in database: Database) throws -> Int64? {
        guard id.isStorable else { return nil }
        let host = try key(of: host, in: database)
        let known = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT key FROM chat WHERE host = ? AND id = ?"),
            arguments: [host, id]
        )
        if let known { return known }
        try database.execute(
            sql: "INSERT INTO chat (host, id, project, title, position) VALUES (?, ?, '', '', -1)",
            arguments: [host, id]
        )
        return database.lastInsertedRowID
    }
}

/// Writes one page of a chat.
private struct PageWriter {
    let database: Database
    let chat: Int64
    let now: Int64

    private struct Stored {
        var key: Int64
        var number: Int
        var role: String
        var text: String
        var createdAt: Int64?
        var interrupted: Bool
    }

    func write(_ messages: [CompanionMessage], offset: Int?, after: String?, isEnd: Bool) throws {
        guard !messages.isEmpty else {
            // Only an empty first page says something about the messages: that there are none.
            if offset == 0, isEnd {
                try database.execute(sql: "DELETE FROM message WHERE chat = ?", arguments: [chat])
            }
            return
        }
        let known = try stored(messages)
        let first = try offset ?? place(of: known)
        let before = try after.flatMap { id in
            try Int.fetchOne(
                database,
                sql: "SELECT number FROM message WHERE chat = ? AND id = ?",
                arguments: [chat, id]
            )
        }
        let anchors = Self.anchors(known, after: before)
        let own = "key NOT IN (\(known.compactMap { $0?.key }.map(String.init).joined(separator: ",")))"
        try removeMissing(anchors, own, after: before, isStart: first == 0, isEnd: isEnd)
        try moveOthers(anchors, own, after: before, places: first..<first + messages.count)
        try insert(messages, known, first: first)
        if isEnd { try replaceOwn() }
    }

    /// A stored message of the page that is not moved within the chat.
    private struct Anchor {
        /// In the page.
        var index: Int
        /// Its number so far.
        var number: Int
    }

    /// The longest sequence of stored messages of the page whose order is the same as before. The others were moved.
    private static func anchors(_ known: [Stored?], after: Int?) -> [Anchor] {
        let all = known.enumerated().compactMap { index, stored in
            stored.map { Anchor(index: index, number: $0.number) }
        }.filter { $0.number > after ?? .min }
        if zip(all, all.dropFirst()).allSatisfy({ $0.number < $1.number }) { return all }
        var best: [(length: Int, previous: Int?)] = []
        for anchor in all {
            let previous = best.indices.filter { all[$0].number < anchor.number }.max {
                best[$0].length < best[$1].length
            }
            best.append((1 + (previous.map { best[$0].length } ?? 0), previous))
        }
        var sequence: [Anchor] = []
        var next = best.indices.max { best[$0].length < best[$1].length }
        while let index = next {
            sequence.append(all[index])
            next = best[index].previous
        }
        return sequence.reversed()
    }

    private func stored(_ messages: [CompanionMessage]) throws -> [Stored?] {
        let find = try database.cachedStatement(
            sql: "SELECT key, number, role, text, createdAt, interrupted FROM message WHERE chat = ? AND id = ?"
        )
        return try messages.map { message in
            try Row.fetchOne(find, arguments: [chat, message.id]).map {
                Stored(
                    key: $0[0],
                    number: $0[1],
                    role: $0[2],
                    text: $0[3],
                    createdAt: $0[4],
                    interrupted: $0[5]
                )
            }
        }
    }

    /// The number of the first message of a page whose offset is unknown: where its messages are already, else the end.
    private func place(of known: [Stored?]) throws -> Int {
        if let index = known.firstIndex(where: { $0 != nil }), let number = known[index]?.number {
            return max(0, number - index)
        }
        let last = try Int.fetchOne(
            database,
            sql: "SELECT max(number) FROM message WHERE chat = ? AND isOwn = 0",
            arguments: [chat]
        )
        return last.map { $0 + 1 } ?? 0
    }

    /// - Parameter own: A condition that excludes the messages of the page.
    private func removeMissing(
        _ anchors: [Anchor],
        _ own: String,
        after: Int?,
        isStart: Bool,
        isEnd: Bool
    ) throws {
        // Without a message in common, only a page that is the rest of the chat says that the others are gone.
        guard let first = anchors.first, let last = anchors.last else {
            guard isEnd, isStart || after != nil else { return }
            return try remove(own, above: isStart ? .min : after ?? .max, below: .max)
        }
        try remove(own, above: isStart ? .min : after ?? first.number, below: isEnd ? .max : last.number)
    }

    private func remove(_ own: String, above low: Int, below high: Int) throws {
        try database.execute(
            sql: "DELETE FROM message WHERE chat = ? AND number > ? AND number < ? AND isOwn = 0 AND \(own)",
            arguments: [chat, low, high]
        )
    }

    /// Makes room for the page: all others move as their neighbour of the page does, and further if the room is needed.
    private func moveOthers(_ anchors: [Anchor], _ own: String, after: Int?, places: Range<Int>) throws {
        // Without a message in common, what is behind the place of the page stays behind it.
        let low = anchors.first?.number ?? after.map { $0 + 1 } ?? places.lowerBound
        let high = anchors.last?.number ?? low - 1
        let neighbours = try Row.fetchOne(
            database,
            sql: """
                SELECT (SELECT max(number) FROM message WHERE chat = ?1 AND number < ?2 AND \(own)),
                       (SELECT min(number) FROM message WHERE chat = ?1 AND number > ?3 AND \(own))
                """,
            arguments: [chat, low, high]
        )
        var (before, behind) = (0, 0)
        if let first = anchors.first, after != places.lowerBound - 1 {
            before = places.lowerBound + first.index - first.number
        }
        if let last = anchors.last { behind = places.lowerBound + last.index - last.number }
        if let previous = neighbours?[0] as Int? { before = min(before, places.lowerBound - 1 - previous) }
        if let next = neighbours?[1] as Int? { behind = max(behind, places.upperBound - next) }
        guard before != 0 || behind != 0 else { return }
        try database.execute(
            sql: """
                UPDATE message SET number = number + iif(number < ?2, ?4, ?5)
                WHERE chat = ?1 AND (number < ?2 OR number > ?3) AND \(own)
                """,
            arguments: [chat, low, high, before, behind]
        )
    }

    private func insert(_ messages: [CompanionMessage], _ known: [Stored?], first: Int) throws {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, seenAt, interrupted)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        let number = try database.cachedStatement(sql: "UPDATE message SET number = ? WHERE key = ?")
        let change = try database.cachedStatement(
            sql: "UPDATE message SET number = ?, role = ?, text = ?, createdAt = ?, interrupted = ? WHERE key = ?"
        )
        for (index, message) in messages.enumerated() {
            let (role, text) = (message.role.rawValue.storable, message.text.storable)
            let (created, interrupted) = (message.createdAt?.milliseconds, message.interrupted == true)
            guard let stored = known[index] else {
                try insert.execute(
                    arguments: [chat, first + index, message.id, role, text, created, now, interrupted]
                )
                continue
            }
            if !stored.text.isSame(as: text) || !stored.role.isSame(as: role) || stored.createdAt != created
                || stored.interrupted != interrupted
            {
                try change.execute(arguments: [first + index, role, text, created, interrupted, stored.key])
            } else if stored.number != first + index {
                try number.execute(arguments: [first + index, stored.key])
            }
        }
    }

    /// Replaces what was written down during turns by the host's own messages. Tools go with their prompt.
    private func replaceOwn() throws {
        let own = try Row.fetchAll(
            database,
            sql: "SELECT key, role, text FROM message WHERE chat = ? AND isOwn = 1 ORDER BY number DESC",
            arguments: [chat]
        )
        var taken: Set<Int64> = []
        for row in own {
            if row[1] == CompanionMessage.Role.user.rawValue {
                let same = try Int64.fetchAll(
                    database,
                    sql: """
                        SELECT key FROM message WHERE chat = ? AND isOwn = 0 AND role = 'user'
                        ORDER BY trim(text) = trim(?) DESC, number DESC
                        """,
                    arguments: [chat, row[2] as String]
                ).first { !taken.contains($0) }
                if let same {
                    taken.insert(same)
                    try database.execute(
                        sql: "UPDATE tool SET message = ? WHERE message = ?",
                        arguments: [same, row[0] as Int64]
                    )
                }
            }
            try database.execute(sql: "DELETE FROM message WHERE key = ?", arguments: [row[0] as Int64])
        }
    }
}

// MARK: Turns

/// What is said in a chat, written down while it is said. The host's own messages take its place when they are read.
extension HistoryStore {
    /// Writes down a prompt that the host has received.
    ///
    /// - Returns: The key for ``keepTool(_:of:at:)`` and ``keepAnswer(_:to:interrupted:at:)``; nil if the chat's id
    ///   cannot be stored.
    package func keepPrompt(
        _ text: String,
        chatID: String,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) -> Int64? {
        try await write { database in
            guard let chat = try Self.chatKey(chatID, of: host, in: database) else { return nil }
            return try Self.append("user", text, chat: chat, at: now, interrupted: false, database)
        }
    }

    /// Writes down an answer.
    ///
    /// - Parameter interrupted: Whether this is only the beginning.
    package func keepAnswer(
        _ text: String,
        to prompt: Int64,
        interrupted: Bool,
        at now: Date
    ) async throws(HistoryError) {
        try await write { database in
            // The prompt is gone if the host's own messages were read meanwhile: they have the answer, or will have it.
            let chat = try Int64.fetchOne(
                database,
                sql: "SELECT chat FROM message WHERE key = ? AND isOwn = 1",
                arguments: [prompt]
            )
            guard let chat else { return }
            _ = try Self.append("assistant", text, chat: chat, at: now, interrupted: interrupted, database)
        }
    }

    private static func append(
        _ role: String,
        _ text: String,
        chat: Int64,
        at now: Date,
        interrupted: Bool,
        _ database: Database
    ) throws -> Int64 {
        let last = try Int.fetchOne(
            database,
            sql: "SELECT max(number) FROM message WHERE chat = ?",
            arguments: [chat]
        )
        let time = now.milliseconds
        try database.execute(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, seenAt, interrupted, isOwn)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)
                """,
            arguments: [
                chat, last.map { $0 + 1 } ?? 0, "own-" + UUID().uuidString.lowercased(), role, text.storable, time,
                time, interrupted,
            ]
        )
        let key = database.lastInsertedRowID
        try database.execute(sql: "UPDATE chat SET readAt = ? WHERE key = ?", arguments: [time, chat])
        return key
    }

    /// Writes down that a tool began or ended while a prompt was answered.
    package func keepTool(_ tool: HistoryTool, of prompt: Int64) async throws(HistoryError) {
        try await write { database in
            let earlier = try Int64.fetchOne(
                database,
                sql: "SELECT key FROM tool WHERE message = ? AND id = ? AND success IS NULL ORDER BY key DESC",
                arguments: [prompt, tool.id.storable]
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
                    INSERT INTO tool (message, id, name, detail, success, at)
                    SELECT key, ?, ?, ?, ?, ? FROM message WHERE key = ?
                    """,
                arguments: [
                    tool.id.storable, tool.name.storable, tool.detail.storable, tool.success, tool.at.milliseconds,
                    prompt,
                ]
            )
        }
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

// MARK: Reading

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
            let chat = try Row.fetchOne(
                database,
                sql: """
                    SELECT chat.key, chat.readAt FROM chat JOIN host ON host.key = chat.host
                    WHERE host.id = ? AND chat.id = ?
                    """,
                arguments: [hostID, chatID]
            )
            guard let chat, let read = chat.date("readAt") else { return nil }
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM message WHERE chat = ? ORDER BY number, key LIMIT ? OFFSET ?",
                arguments: [chat["key"] as Int64, limit + 1, cursor]
            )
            let page = CompanionMessagesPageResponse(
                chatId: chatID,
                messages: rows.prefix(limit).map(Self.message),
                nextCursor: rows.count > limit ? String(cursor + limit) : nil
            )
            return Known(value: page, asOf: read)
        }
    }

    /// How many messages of a chat, as far as is known, were never read.
    package func unreadCount(hostID: String, chatID: String) async throws(HistoryError) -> Int {
        try await read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT ifnull(max(number) + 1 - count(*), 0) FROM message
                    JOIN chat ON chat.key = message.chat JOIN host ON host.key = chat.host
                    WHERE host.id = ? AND chat.id = ?
                    """,
                arguments: [hostID, chatID]
            ) ?? 0
        }
    }

    /// Where reading a chat goes on: the last page's cursor and ids; nil if none of its messages was read.
    package func position(
        hostID: String,
        chatID: String
    ) async throws(HistoryError) -> (cursor: String, identifiers: [String])? {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT message.number, message.id FROM message
                    JOIN chat ON chat.key = message.chat JOIN host ON host.key = chat.host
                    WHERE host.id = ? AND chat.id = ? AND isOwn = 0 ORDER BY number DESC LIMIT 50
                    """,
                arguments: [hostID, chatID]
            )
            guard let oldest = rows.last else { return nil }
            return ("\(oldest[0] as Int)", rows.reversed().map { $0[1] })
        }
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
