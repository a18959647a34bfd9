import CompanionWire
package import FoundationEssentials
import GRDB

// MARK: Export

extension HistoryStore {
    /// The stored chats of a host or of all, by host and project, as the hosts list them.
    package func allChats(hostID: String? = nil) async throws(HistoryError) -> [HistoryChat] {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT chat.key AS chatKey, chat.id AS chatID, chat.project AS chatProject, chat.title,
                        chat.updatedAt AS chatUpdatedAt, chat.readAt, host.id AS hostID, host.name AS hostName,
                        host.family, project.id AS projectID, project.name AS projectName, project.path,
                        project.updatedAt AS projectUpdatedAt,
                        (SELECT count(*) FROM message WHERE message.chat = chat.key) AS messages,
                        (SELECT max(number) + 1 FROM message WHERE message.chat = chat.key) AS length
                    FROM chat JOIN host ON host.key = chat.host
                    LEFT JOIN project ON project.host = chat.host AND project.id = chat.project
                    WHERE chat.goneAt IS NULL AND (?1 IS NULL OR host.id = ?1)
                    ORDER BY host.name, host.id, project.position, chat.position, chat.key
                    """,
                arguments: ["1": hostID]
            )
            return rows.map { row in
                HistoryChat(
                    host: HistoryHost(
                        id: row["hostID"],
                        name: row["hostName"],
                        family: HostFamily(rawValue: row["family"]) ?? .copilotforge
                    ),
                    project: (row["projectID"] as String?).map {
                        CompanionProject(
                            id: $0,
                            name: row["projectName"],
                            localPath: row["path"],
                            lastUpdatedAt: row.date("projectUpdatedAt")
                        )
                    },
                    chat: CompanionChat(
                        id: row["chatID"],
                        projectId: row["chatProject"],
                        title: row["title"],
                        lastUpdatedAt: row.date("chatUpdatedAt")
                    ),
                    readAt: row.date("readAt"),
                    messages: row["messages"],
                    unread: max(0, (row["length"] as Int? ?? 0) - (row["messages"] as Int)),
                    key: row["chatKey"]
                )
            }
        }
    }

    /// The stored messages of a chat, oldest first.
    ///
    /// - Parameter after: The last message that is not wanted; nil for all.
    package func messages(
        of chat: HistoryChat,
        after: HistoryMessage? = nil,
        limit: Int = 500
    ) async throws(HistoryError) -> [HistoryMessage] {
        try await read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM message WHERE chat = ?1 AND (?2 IS NULL OR (number, key) > (
                        ?2, (SELECT key FROM message WHERE chat = ?1 AND id = ?3)
                    )) ORDER BY number, key LIMIT ?4
                    """,
                arguments: ["1": chat.key, "2": after?.number, "3": after?.message.id, "4": limit]
            )
            return try rows.map { row in
                let tools = try Row.fetchAll(
                    database.cachedStatement(sql: "SELECT * FROM tool WHERE message = ? ORDER BY key"),
                    arguments: [row["key"] as Int64]
                ).map { tool in
                    HistoryTool(
                        id: tool["id"],
                        name: tool["name"],
                        detail: tool["detail"],
                        success: tool["success"],
                        at: tool.date("at") ?? .distantPast
                    )
                }
                return HistoryMessage(number: row["number"], message: Self.message(row), tools: tools)
            }
        }
    }
}

// MARK: Import

extension HistoryStore {
    /// What an import has added. What was there before stays as it is.
    package struct Imported: Sendable, Hashable {
        package var chats = 0
        package var messages = 0
        /// Messages that were there before.
        package var known = 0
    }

    /// Adds the lines of an archive, all or none.
    ///
    /// - Parameter next: Returns the next line; nil at the end.
    /// - Throws: ``HistoryError/Code/badArchive`` for lines in the wrong order or without what they need, and what
    ///   `next` throws, if that is a ``HistoryError``.
    package func importArchive(
        at now: Date,
        _ next: @escaping @Sendable () throws -> HistoryArchive.Line?
    ) async throws(HistoryError) -> Imported {
        try await write { database in
            var reader = ArchiveReader(database: database, now: now.milliseconds)
            guard let first = try next(), first.type == .archive, let version = first.version else {
                throw HistoryError(
                    .badArchive,
                    "this is not what pairtool exports; nothing was imported",
                    remedy: "export it as JSON: pairtool export --all --format json -o FILE"
                )
            }
            guard version <= HistoryArchive.version, version > 0 else {
                throw HistoryError(
                    .badArchive,
                    "it was exported by a later pairtool (version \(version) of the format; this one knows \(HistoryArchive.version)); nothing was imported",
                    remedy: "update pairtool"
                )
            }
            while let line = try next() { try reader.take(line) }
            return reader.imported
        }
    }
}

/// Takes the lines of an archive after the first.
private struct ArchiveReader {
    let database: Database
    let now: Int64
    var imported = HistoryStore.Imported()
    private var number = 1
    private var host: Int64?
    private var chat: Int64?
    private var message: (key: Int64, isNew: Bool)?

    init(database: Database, now: Int64) {
        (self.database, self.now) = (database, now)
    }

    mutating func take(_ line: HistoryArchive.Line) throws {
        number += 1
        switch line.type {
        case .archive: throw bad("begins another archive")
        case .host: try takeHost(line)
        case .project: try takeProject(line)
        case .chat: try takeChat(line)
        case .message: try takeMessage(line)
        case .tool: try takeTool(line)
        }
    }

    private func bad(_ why: String) -> HistoryError {
        HistoryError(.badArchive, "line \(number) of the file \(why); nothing was imported")
    }

    private func id(_ line: HistoryArchive.Line) throws -> String {
        guard let id = line.id, !id.isEmpty, id.utf8.count <= 1024, id.isStorable else { throw bad("has no usable id") }
        return id
    }

    private mutating func takeHost(_ line: HistoryArchive.Line) throws {
        guard let family = line.family else { throw bad("names no family of hosts") }
        let id = try id(line)
        // The name that the user gave the host here stays.
        host = try Int64.fetchOne(database, sql: "SELECT key FROM host WHERE id = ?", arguments: [id])
        if host == nil {
            let added = HistoryHost(id: id, name: line.name ?? id, family: family)
            host = try HistoryStore.key(of: added, in: database)
        }
        (chat, message) = (nil, nil)
    }

    private func takeProject(_ line: HistoryArchive.Line) throws {
        guard let host else { throw bad("has a project without a host") }
        try database.execute(
            sql: """
                INSERT INTO project (host, id, name, path, updatedAt, position, listedAt)
                VALUES (?, ?, ?, ?, ?, (SELECT count(*) FROM project WHERE host = ?1), ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                host, try id(line), (line.name ?? "").storable, (line.localPath ?? "").storable,
                line.lastUpdatedAt?.milliseconds, (line.lastUpdatedAt?.milliseconds ?? now),
            ]
        )
        // Without a list of the host's own, this is the list.
        try database.execute(
            sql: "UPDATE host SET listedAt = ifnull(listedAt, ?) WHERE key = ?",
            arguments: [now, host]
        )
    }

    private mutating func takeChat(_ line: HistoryArchive.Line) throws {
        guard let host else { throw bad("has a chat without a host") }
        let id = try id(line)
        try database.execute(
            sql: """
                INSERT INTO chat (host, id, project, title, updatedAt, position, readAt)
                VALUES (?, ?, ?, ?, ?, (SELECT count(*) FROM chat WHERE host = ?1), ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                host, id, line.projectId ?? "", (line.title ?? "").storable, line.lastUpdatedAt?.milliseconds,
                line.readAt?.milliseconds,
            ]
        )
        imported.chats += database.changesCount
        chat = try Int64.fetchOne(
            database,
            sql: "SELECT key FROM chat WHERE host = ? AND id = ?",
            arguments: [host, id]
        )
        message = nil
    }

    private mutating func takeMessage(_ line: HistoryArchive.Line) throws {
        guard let chat else { throw bad("has a message without a chat") }
        guard let text = line.text, let role = line.role else { throw bad("has a message without a text or role") }
        let id = try id(line)
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO message (chat, number, id, role, text, createdAt, seenAt, interrupted)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
        )
        try insert.execute(arguments: [
            chat, min(max(line.number ?? 0, -1 << 40), 1 << 40), id, role.storable, text.storable,
            line.createdAt?.milliseconds, now, line.interrupted == true,
        ])
        let isNew = database.changesCount > 0
        if isNew { imported.messages += 1 } else { imported.known += 1 }
        let key = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT key FROM message WHERE chat = ? AND id = ?"),
            arguments: [chat, id]
        )
        message = key.map { ($0, isNew) }
    }

    private func takeTool(_ line: HistoryArchive.Line) throws {
        guard let message else { throw bad("has a tool without a message") }
        // The tools of a message that was there before were there too.
        guard message.isNew else { return }
        let name = (line.name ?? "").storable
        try database.execute(
            sql: "INSERT INTO tool (message, id, name, detail, success, at) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                message.key, (line.id ?? name).storable, name, (line.detail ?? "").storable, line.success,
                line.at?.milliseconds ?? now,
            ]
        )
    }
}
