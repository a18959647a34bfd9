package import CompanionWire
package import FoundationEssentials
import GRDB

/// The lists of a host. Each replaces what was known: what it lacks is hidden at once and removed a day later, as a host
/// that has just been started may list nothing yet.
extension HistoryStore {
    /// Takes a host's list of projects.
    package func keep(
        projects: [CompanionProject],
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) {
        try await write { database in
            let key = try Self.key(of: host, in: database)
            let rows = projects.unique(by: \.id)
            try Self.replace(
                rows,
                in: "project",
                of: key,
                values: ["name": \.name.storable, "path": \.localPath.storable],
                updatedAt: \.lastUpdatedAt,
                restricted: nil,
                at: now,
                in: database
            )
            try HistoryRows.host(host.id).updateAll(database, Column("listedAt").set(to: now.milliseconds))
        }
    }

    /// Takes a host's list of a project's chats.
    ///
    /// - Parameter isWhole: Whether chats that it lacks are hidden. Default: true.
    package func keep(
        chats: [CompanionChat],
        projectID: String,
        isWhole: Bool = true,
        of host: HistoryHost,
        at now: Date
    ) async throws(HistoryError) {
        try await write { database in
            let key = try Self.key(of: host, in: database)
            let rows = chats.unique(by: \.id).map { chat in
                var chat = chat
                // The project under which the host listed it.
                chat.projectId = projectID
                return chat
            }
            try Self.replace(
                rows,
                in: "chat",
                of: key,
                values: ["title": \.title.storable, "project": \.projectId],
                updatedAt: \.lastUpdatedAt,
                restricted: projectID,
                isWhole: isWhole,
                at: now,
                in: database
            )
            try Table("project").filter(Column("host") == key && Column("id") == projectID)
                .updateAll(database, Column("listedAt").set(to: now.milliseconds))
        }
    }

    /// Adds a project or changes it, without a list.
    package func add(project: CompanionProject, of host: HistoryHost) async throws(HistoryError) {
        guard project.id.isStorable else { return }
        try await write { database in
            try database.cachedStatement(
                sql: """
                    INSERT INTO project (host, id, name, path, updatedAt, position) VALUES (?, ?, ?, ?, ?, -1)
                    ON CONFLICT (host, id) DO UPDATE SET name = excluded.name, path = excluded.path, goneAt = NULL,
                        updatedAt = max(ifnull(updatedAt, excluded.updatedAt), ifnull(excluded.updatedAt, updatedAt))
                    """
            ).execute(arguments: [
                Self.key(of: host, in: database), project.id, project.name.storable, project.localPath.storable,
                project.lastUpdatedAt?.milliseconds,
            ])
        }
    }

    /// Adds a chat or changes it, without a list.
    package func add(chat: CompanionChat, of host: HistoryHost) async throws(HistoryError) {
        guard chat.id.isStorable else { return }
        try await write { database in
            try database.cachedStatement(
                sql: """
                    INSERT INTO chat (host, id, project, title, updatedAt, position) VALUES (?, ?, ?, ?, ?, -1)
                    ON CONFLICT (host, id) DO UPDATE SET title = excluded.title, goneAt = NULL,
                        updatedAt = max(ifnull(updatedAt, excluded.updatedAt), ifnull(excluded.updatedAt, updatedAt))
                    """
            ).execute(arguments: [
                Self.key(of: host, in: database), chat.id, chat.projectId, chat.title.storable,
                chat.lastUpdatedAt?.milliseconds,
            ])
        }
    }

    /// A condition: whether a chat is in the host's list, and its project too.
    static let isListed = """
        (chat.goneAt IS NULL AND NOT EXISTS (
            SELECT 1 FROM project AS listing WHERE listing.host = chat.host AND listing.id = chat.project
            AND listing.goneAt IS NOT NULL
        ))
        """

    /// The key of a host, which is added if it is missing.
    ///
    /// - Throws: ``HistoryError/Code/forgotten`` if the host of this pairing was forgotten: another process may still
    ///   be connected to it.
    static func key(of host: HistoryHost, in database: Database) throws -> Int64 {
        let row = try HistoryRows.host(host.id).fetchOne(database)
        let name = host.name.storable
        if let row, (row["name"] as String).isSame(as: name), row["family"] as String == host.family.rawValue {
            return row["key"]
        }
        if row == nil, let pairedAt = host.pairedAt?.milliseconds,
            let forgotten = try note("forgotten " + host.id, in: database),
            // A time that was read from a file may be rounded otherwise.
            abs(forgotten - pairedAt) <= 1
        {
            throw HistoryError(
                .forgotten,
                "the host \(host.name) was forgotten on this machine; nothing more is kept for it"
            )
        }
        try database.execute(
            sql: """
                INSERT INTO host (id, name, family) VALUES (?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET name = excluded.name, family = excluded.family
                """,
            arguments: [host.id, name, host.family.rawValue]
        )
        return row?["key"] ?? database.lastInsertedRowID
    }

    /// Brings the rows of a table in step with a list, and writes only what differs.
    ///
    /// - Parameter restricted: The project whose chats were listed; nil for a list of everything.
    private static func replace<Item: Identifiable<String>>(
        _ items: [Item],
        in table: String,
        of host: Int64,
        values: KeyValuePairs<String, (Item) -> String>,
        updatedAt: (Item) -> Date?,
        restricted: String?,
        isWhole: Bool = true,
        at now: Date,
        in database: Database
    ) throws {
        let columns = values.map(\.key)
        var condition = "host = ?1"
        var arguments: StatementArguments = ["1": host]
        if let restricted {
            // The project's chats, and those listed that were in another project.
            condition = """
                key IN (
                    SELECT key FROM chat WHERE host = ?1 AND project = ?2
                    UNION SELECT key FROM chat WHERE host = ?1 AND id IN (SELECT value FROM json_each(?3))
                )
                """
            let ids = String(decoding: try JSONEncoder().encode(items.map(\.id)), as: UTF8.self)
            arguments = ["1": host, "2": restricted, "3": ids]
        }
        let known = try Row.fetchCursor(
            database,
            sql: "SELECT id, key, position, updatedAt, goneAt, \(columns.joined(separator: ", ")) FROM \(table)"
                + " WHERE \(condition)",
            arguments: arguments
        )
        var rows: [ByteText: ListedRow] = [:]
        while let row = try known.next() { rows[ByteText(row["id"] as String)] = ListedRow(row, texts: columns) }
        let insert = try database.cachedStatement(
            sql: "INSERT INTO \(table) (host, id, position, updatedAt, \(columns.joined(separator: ", ")))"
                + " VALUES (?, ?, ?, ?\(String(repeating: ", ?", count: columns.count)))"
        )
        let update = try database.cachedStatement(
            sql: "UPDATE \(table) SET position = ?, updatedAt = ?, goneAt = NULL"
                + columns.map { ", \($0) = ?" }.joined() + " WHERE key = ?"
        )
        let place = try database.cachedStatement(
            sql: "UPDATE \(table) SET position = ?, updatedAt = ?, goneAt = NULL WHERE key = ?"
        )
        for (position, item) in items.enumerated() {
            let texts = values.map { $0.value(item) }
            let updated = updatedAt(item)?.milliseconds
            guard let row = rows.removeValue(forKey: ByteText(item.id)) else {
                try insert.execute(
                    arguments: [host, item.id, position, updated] + StatementArguments(texts)
                )
                continue
            }
            let isSame = texts.indices.allSatisfy { row.texts[$0].isSame(as: texts[$0]) }
            if !isSame {
                try update.execute(
                    arguments: [position, updated] + StatementArguments(texts) + [row.key]
                )
            } else if row.position != position || row.updatedAt != updated || row.isGone {
                try place.execute(arguments: [position, updated, row.key])
            }
        }
        guard isWhole else { return }
        let hide = try database.cachedStatement(sql: "UPDATE \(table) SET goneAt = ? WHERE key = ?")
        let project = columns.firstIndex { $0.isSame(as: "project") }
        for row in rows.values where !row.isGone {
            if let restricted, let project, !row.texts[project].isSame(as: restricted) { continue }
            try hide.execute(arguments: [now.milliseconds, row.key])
        }
    }

    /// A stored project or chat.
    private struct ListedRow {
        var key: Int64
        var position: Int
        var updatedAt: Int64?
        var isGone: Bool
        /// The columns that belong to the table alone.
        var texts: [String]

        init(_ row: Row, texts columns: [String]) {
            (key, position) = (row["key"], row["position"])
            updatedAt = row["updatedAt"]
            isGone = row["goneAt"] as Int64? != nil
            texts = columns.map { row[$0] }
        }
    }
}

// MARK: Reading

extension HistoryStore {
    /// The hosts of which something is stored.
    package func hosts() async throws(HistoryError) -> [HistoryHost] {
        try await read { database in
            try Table("host").order(Column("name"), Column("id")).fetchAll(database).map(Self.host)
        }
    }

    static func host(_ row: Row) -> HistoryHost {
        HistoryHost(id: row["id"], name: row["name"], family: HostFamily(rawValue: row["family"]) ?? .usual)
    }

    /// A host's projects as they were listed last; nil if they never were.
    package func projects(hostID: String) async throws(HistoryError) -> Known<[CompanionProject]>? {
        try await read { database in
            guard let listed = try HistoryRows.host(hostID).fetchOne(database)?.date("listedAt") else { return nil }
            let rows = try HistoryRows.projects(ofHost: hostID).filter(Column("goneAt") == nil)
                .order(Column("position"), Column("key")).fetchAll(database)
            return Known(value: rows.map(Self.project), asOf: listed)
        }
    }

    /// A project's chats as they were listed last, with those that were begun or read since; nil if none are known.
    package func chats(hostID: String, projectID: String) async throws(HistoryError) -> Known<[CompanionChat]>? {
        try await read { database in
            let project = try HistoryRows.projects(ofHost: hostID).filter(Column("id") == projectID).fetchOne(database)
            guard let project else { return nil }
            // No copies of rows, and names in lower case, which GRDB finds fastest: there may be thousands.
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT id, title, updatedAt AS time
                        FROM chat WHERE host = ? AND project = ? AND goneAt IS NULL ORDER BY position, key
                        """
                ),
                arguments: [project["host"] as Int64, projectID]
            )
            var chats: [CompanionChat] = []
            while let row = try rows.next() {
                chats.append(
                    CompanionChat(
                        id: row["id"],
                        projectId: projectID,
                        title: row["title"],
                        lastUpdatedAt: row.date("time")
                    )
                )
            }
            if let listed = project.date("listedAt") { return Known(value: chats, asOf: listed) }
            // Chats that were never listed are known since they were begun or read.
            let seen = try Int64.fetchOne(
                database,
                sql: """
                    SELECT max(max(coalesce(readAt, 0), coalesce(updatedAt, 0)))
                    FROM chat WHERE host = ? AND project = ? AND goneAt IS NULL
                    """,
                arguments: [project["host"] as Int64, projectID]
            )
            return seen.map { Known(value: chats, asOf: Date(milliseconds: $0)) }
        }
    }

    static func project(_ row: Row) -> CompanionProject {
        CompanionProject(
            id: row["id"],
            name: row["name"],
            localPath: row["path"],
            lastUpdatedAt: row.date("updatedAt")
        )
    }
}

extension String {
    /// Whether the text can be an id in the database: SQLite would end it at NUL.
    var isStorable: Bool { !utf8.contains(0) }
}

extension Array {
    /// The items that can be stored, each id once.
    func unique(by id: (Element) -> String) -> [Element] {
        var seen: Set<ByteText> = []
        return filter { id($0).isStorable && seen.insert(ByteText(id($0))).inserted }
    }
}

/// A chat that is known of a host.
package struct KnownChat: Sendable, Hashable {
    package var hostID: String
    package var id: String
    package var title: String
}

extension HistoryStore {
    /// The chats of all hosts that are known and not gone, without their messages.
    package func knownChats() async throws(HistoryError) -> [KnownChat] {
        try await read { database in
            let sql = """
                SELECT host.id AS host, chat.id, chat.title FROM chat JOIN host ON host.key = chat.host
                WHERE \(Self.isListed)
                """
            return try Row.fetchAll(database, sql: sql).map { row in
                KnownChat(hostID: row["host"], id: row["id"], title: row["title"])
            }
        }
    }

    /// The ids of the hosts of which every project and its chats have been listed.
    package func listedHostIDs() async throws(HistoryError) -> Set<String> {
        try await read { database in
            let sql = """
                SELECT id FROM host WHERE listedAt IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM project WHERE project.host = host.key AND goneAt IS NULL AND project.listedAt IS NULL
                )
                """
            return try Set(String.fetchAll(database, sql: sql))
        }
    }
}
