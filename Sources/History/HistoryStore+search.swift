import CompanionWire
import FoundationEssentials
import GRDB

extension HistoryStore {
    /// Of more matches than this, the newest are ranked: those that were stored last. In a scope, all are, as there may
    /// be only old ones.
    static let mostRanked = 5000

    /// Finds messages, tools and chats, the best first, newer ones first among equals.
    ///
    /// Words are looked for as they are; if there is nothing, as beginnings of words; then anywhere in the texts.
    package func search(_ query: SearchQuery, within scope: SearchScope) async throws(HistoryError) -> [SearchHit] {
        guard scope.limit > 0 else { return [] }
        return try await read { database in
            if !query.isEmpty {
                for query in [query, query.asPrefixes] {
                    let hits = try Self.indexed(query, within: scope, in: database)
                    if !hits.isEmpty { return hits }
                }
            }
            return try Self.scanned(query.text, within: scope, in: database)
        }
    }

    // MARK: By the index

    private struct Found {
        var kind: SearchHit.Kind
        var key: Int64
        /// Smaller is better.
        var score: Double
        var time: Int64
    }

    private static func indexed(
        _ query: SearchQuery,
        within scope: SearchScope,
        in database: Database
    ) throws -> [SearchHit] {
        var found: [Found] = []
        for kind in [SearchHit.Kind.chat, .message, .tool] where scope.role == nil || kind == .message {
            found += try ranked(kind, expression: query.expression, within: scope, in: database)
        }
        found.sort { ($0.score, -$0.time, $0.key) < ($1.score, -$1.time, $1.key) }
        return try found.prefix(scope.limit).compactMap { try hit($0, expression: query.expression, in: database) }
    }

    private static func ranked(
        _ kind: SearchHit.Kind,
        expression: String,
        within scope: SearchScope,
        in database: Database
    ) throws -> [Found] {
        let index = "\(kind)Text"
        let oldest =
            try scope.isEverything
            ? Int64.fetchOne(
                database,
                sql: "SELECT rowid FROM \(index) WHERE \(index) MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
                arguments: [expression, mostRanked - 1]
            ) : nil
        let (filter, values) = restriction(scope, of: kind)
        var arguments: StatementArguments = [expression]
        if let oldest { arguments += [oldest] }
        // The index sorts by itself, so that messages are read only as far as they are shown: the best, and all that
        // are as good as the last one of them.
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(index).rowid AS key, \(index).rank AS score, \(time(kind)) AS time
                FROM \(index) \(joins(kind, key: "\(index).rowid"))
                WHERE \(index) MATCH ? \(oldest == nil ? "" : "AND \(index).rowid >= ?") \(filter)
                ORDER BY \(index).rank
                """,
            arguments: arguments + values
        )
        var best: [Found] = []
        while let row = try rows.next() {
            let next = Found(kind: kind, key: row["key"], score: row["score"], time: row["time"] ?? 0)
            if best.count >= scope.limit, next.score > best[scope.limit - 1].score { break }
            best.append(next)
        }
        return best
    }

    private static func hit(_ found: Found, expression: String, in database: Database) throws -> SearchHit? {
        let index = "\(found.kind)Text"
        let excerpt = try String.fetchOne(
            database.cachedStatement(
                sql: "SELECT snippet(\(index), -1, char(2), char(3), '…', 24) FROM \(index)"
                    + " WHERE \(index) MATCH ? AND rowid = ?"
            ),
            arguments: [expression, found.key]
        )
        return try hit(found.kind, key: found.key, excerpt: .init(marked: excerpt ?? ""), in: database)
    }

    // MARK: Without the index

    /// The messages with a text anywhere in them, newest first: inside of words, and between signs.
    private static func scanned(_ text: String, within scope: SearchScope, in database: Database) throws -> [SearchHit]
    {
        let wanted = text.unicodeScalars.filter { $0 != "\"" }
        guard !wanted.isEmpty else { return [] }
        let (filter, values) = restriction(scope, of: .message)
        let pattern = wanted.map { "\\%_".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT message.key, message.text FROM message \(joins(.message, key: "message.key", isJoined: true))
                WHERE message.text LIKE ? ESCAPE '\\' \(filter) ORDER BY \(time(.message)) DESC LIMIT ?
                """,
            arguments: ["%\(pattern)%"] + values + [scope.limit]
        )
        return try rows.compactMap { row in
            try hit(.message, key: row["key"], excerpt: excerpt(of: row["text"], around: String(wanted)), in: database)
        }
    }

    /// - Parameter text: What SQLite found: in the case of ASCII letters, it may differ.
    private static func excerpt(of content: String, around text: String) -> [SearchHit.Piece] {
        func folded(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }
        let (bytes, wanted) = (Array(content.utf8), text.utf8.map(folded))
        guard let first = wanted.first, bytes.count >= wanted.count else { return .init(marked: content) }
        let start = (0...bytes.count - wanted.count).first { start in
            folded(bytes[start]) == first
                && wanted.indices.allSatisfy { folded(bytes[start + $0]) == wanted[$0] }
        }
        guard let start else { return .init(marked: content.scalars(atMost: 120)) }
        let end = start + wanted.count
        // Whole characters: a byte of 10xxxxxx goes on with one.
        func begin(_ index: Int) -> Int {
            var index = max(0, min(bytes.count, index))
            while index > 0, index < bytes.count, bytes[index] & 0xC0 == 0x80 { index -= 1 }
            return index
        }
        func piece(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        let (from, to) = (begin(start - 60), begin(end + 120))
        let marks = [SearchHit.Piece].self
        return .init(
            marked: (from > 0 ? "…" : "") + piece(from..<start) + String(marks.open) + piece(start..<end)
                + String(marks.close) + piece(end..<max(end, to)) + (to < bytes.count ? "…" : "")
        )
    }

    // MARK: SQL

    /// Joins up to the host. Hosts' projects are joined only for what is shown.
    private static func joins(_ kind: SearchHit.Kind, key: String, isJoined: Bool = false) -> String {
        let host = "JOIN host ON host.key = chat.host"
        let chat = "JOIN chat ON chat.key = message.chat \(host)"
        return switch kind {
        case .chat: "JOIN chat ON chat.key = \(key) \(host)"
        case .message: (isJoined ? "" : "JOIN message ON message.key = \(key) ") + chat
        case .tool: "JOIN tool ON tool.key = \(key) JOIN message ON message.key = tool.message \(chat)"
        }
    }

    private static func time(_ kind: SearchHit.Kind) -> String {
        switch kind {
        case .chat: "chat.updatedAt"
        case .message: "ifnull(message.createdAt, message.seenAt)"
        case .tool: "tool.at"
        }
    }

    private static func restriction(
        _ scope: SearchScope,
        of kind: SearchHit.Kind
    ) -> (condition: String, values: StatementArguments) {
        var sql = "AND \(isListed)"
        var values: StatementArguments = []
        if let hosts = scope.hosts {
            sql += " AND host.id IN (\(databaseQuestionMarks(count: hosts.count)))"
            values += StatementArguments(hosts)
        }
        if let project = scope.project {
            sql += """
                 AND EXISTS (
                    SELECT 1 FROM project WHERE project.host = chat.host AND project.id = chat.project
                    AND (project.name = ? COLLATE NOCASE OR project.path = ? OR project.id = ?
                        OR (length(?) >= 4 AND substr(project.id, 1, length(?)) = ?))
                )
                """
            values += StatementArguments(Array(repeating: project, count: 6))
        }
        if let since = scope.since {
            sql += " AND \(time(kind)) >= ?"
            values += [since.milliseconds]
        }
        if let role = scope.role {
            sql += " AND message.role = ?"
            values += [role]
        }
        return (sql, values)
    }

    private static func hit(
        _ kind: SearchHit.Kind,
        key: Int64,
        excerpt: [SearchHit.Piece],
        in database: Database
    ) throws -> SearchHit? {
        let message =
            kind == .chat
            ? "NULL AS messageID, NULL AS role" : "message.id AS messageID, message.role AS role"
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT host.id, host.name, host.family, chat.id AS chatID, chat.title, chat.project,
                        project.name AS projectName, \(time(kind)) AS time, \(message)
                    FROM (SELECT ? AS wanted) \(joins(kind, key: "wanted"))
                    LEFT JOIN project ON project.host = chat.host AND project.id = chat.project
                    """
            ),
            arguments: [key]
        )
        guard let row else { return nil }
        return SearchHit(
            kind: kind,
            host: host(row),
            chatID: row["chatID"],
            chatTitle: row["title"],
            projectID: row["project"],
            projectName: row["projectName"],
            messageID: row["messageID"],
            role: kind == .tool ? nil : row["role"],
            createdAt: row.date("time"),
            excerpt: excerpt
        )
    }
}
