import CompanionWire
import FoundationEssentials
import GRDB

/// Writes one page of a chat.
struct PageWriter {
    let database: Database
    let chat: Int64
    let now: Int64

    private struct Stored: FetchableRecord {
        var key: Int64
        var number: Int
        var role: String
        var text: String
        var createdAt: Int64?
        var interrupted: Bool

        init(row: Row) {
            (key, number, role, text) = (row["key"], row["number"], row["role"], row["text"])
            createdAt = row["createdAt"]
            interrupted = row["interrupted"]
        }
    }

    /// The messages of the chat but those that were written down here.
    var hostMessages: QueryInterfaceRequest<Row> {
        HistoryRows.messages(of: chat).filter(Column("isOwn") == 0)
    }

    func write(_ messages: [CompanionMessage], offset: Int?, after: String?, isEnd: Bool) throws {
        guard !messages.isEmpty else {
            // Only an empty first page says something about the messages: that there are none.
            if offset == 0, isEnd {
                try hostMessages.deleteAll(database)
            }
            return
        }
        let known = try stored(messages)
        let first = try offset ?? place(of: known)
        let before = try after.flatMap { id in
            try HistoryRows.messages(of: chat).filter(Column("id") == id).lastNumber(database)
        }
        let anchors = Self.anchors(known, after: before)
        let own = "key NOT IN (\(known.compactMap { $0?.key }.map(String.init).joined(separator: ",")))"
        try removeMissing(anchors, own: own, after: before, isStart: first == 0, isEnd: isEnd)
        try moveOthers(anchors, own: own, after: before, places: first..<first + messages.count)
        try insert(messages, known: known, first: first)
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
        // By length: where the sequence of this length with the smallest last number ends.
        var ends: [Int] = []
        var previous: [Int?] = []
        for (index, anchor) in all.enumerated() {
            var (length, high) = (0, ends.count)
            while length < high {
                let middle = (length + high) / 2
                if all[ends[middle]].number < anchor.number { length = middle + 1 } else { high = middle }
            }
            previous.append(length == 0 ? nil : ends[length - 1])
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var sequence: [Anchor] = []
        var next = ends.last
        while let index = next {
            sequence.append(all[index])
            next = previous[index]
        }
        return sequence.reversed()
    }

    private func stored(_ messages: [CompanionMessage]) throws -> [Stored?] {
        let find = try database.cachedStatement(
            sql: "SELECT key, number, role, text, createdAt, interrupted FROM message WHERE chat = ? AND id = ?"
        )
        return try messages.map { message in
            try Stored.fetchOne(find, arguments: [chat, message.id])
        }
    }

    /// The number of the first message of a page whose offset is unknown: where its messages are already, else the end.
    private func place(of known: [Stored?]) throws -> Int {
        if let index = known.firstIndex(where: { $0 != nil }), let number = known[index]?.number {
            return max(0, number - index)
        }
        return try hostMessages.lastNumber(database).map { $0 + 1 } ?? 0
    }

    /// - Parameter own: A condition that excludes the messages of the page.
    private func removeMissing(
        _ anchors: [Anchor],
        own: String,
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
    private func moveOthers(_ anchors: [Anchor], own: String, after: Int?, places: Range<Int>) throws {
        // Without a message in common, what is behind the place of the page stays behind it.
        let low = anchors.first?.number ?? after.map { $0 + 1 } ?? places.lowerBound
        let high = anchors.last?.number ?? low - 1
        let neighbours = try Row.fetchOne(
            database,
            sql: """
                SELECT (SELECT max(number) FROM message WHERE chat = ?1 AND number < ?2 AND \(own)) AS previous,
                       (SELECT min(number) FROM message WHERE chat = ?1 AND number > ?3 AND \(own)) AS next
                """,
            arguments: [chat, low, high]
        )
        var (before, behind) = (0, 0)
        if let first = anchors.first, after != places.lowerBound - 1 {
            before = places.lowerBound + first.index - first.number
        }
        if let last = anchors.last { behind = places.lowerBound + last.index - last.number }
        if let previous = neighbours?["previous"] as Int? { before = min(before, places.lowerBound - 1 - previous) }
        if let next = neighbours?["next"] as Int? { behind = max(behind, places.upperBound - next) }
        // With one side alone, SQLite reads only the rows that move.
        let moving = [before == 0 ? nil : "number < ?2", behind == 0 ? nil : "number > ?3"].compactMap(\.self)
        guard !moving.isEmpty else { return }
        try database.execute(
            sql: """
                UPDATE message SET number = number + iif(number < ?2, ?4, ?5)
                WHERE chat = ?1 AND (\(moving.joined(separator: " OR "))) AND \(own)
                """,
            arguments: [chat, low, high, before, behind]
        )
    }

    private func insert(_ messages: [CompanionMessage], known: [Stored?], first: Int) throws {
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
}
