import CompanionWire
import FoundationEssentials
import GRDB
import NIOCore

/// The host's projects, chats and messages. Everything here survives a restart.
package final class CompanionHostStore: Sendable {
    let database: HostDatabase
    let catalog: ProjectCatalog
    private let clock: HostClock
    let live: LiveFeed

    /// - Parameter mayKeep: Whether a project that a device made earlier is still listed, by its path.
    /// - Throws: ``CompanionHostError`` when the database cannot be written.
    init(
        database: HostDatabase,
        catalog: ProjectCatalog,
        clock: HostClock,
        live: LiveFeed,
        mayKeep: (String) -> Bool = { _ in false }
    ) throws(CompanionHostError) {
        self.database = database
        self.catalog = catalog
        self.clock = clock
        self.live = live
        let now = CompanionTimestamp.string(from: clock.now())
        _ = try database.writeBlocking { database in
            for project in catalog.projects {
                try database.execute(
                    sql: """
                        INSERT INTO project (id, name, path, updatedAt) VALUES (?, ?, ?, ?)
                        ON CONFLICT (id) DO UPDATE SET name = excluded.name
                        """,
                    arguments: [project.id, project.name, project.path, now]
                )
            }
            for row in try Row.fetchAll(database, sql: "SELECT name, path FROM project WHERE isMade") {
                guard mayKeep(row[1]) else { continue }
                catalog.add(ProjectCatalog.Project(madeAt: row[1], name: row[0]))
            }
        }
    }

    /// The listed projects, the one that was worked in last first. Projects that are no longer listed keep their
    /// chats in the database, and are not served.
    func projects() async throws(CompanionHostError) -> [CompanionProject] {
        let listed = Set(catalog.projects.map(\.id))
        return try await database.read { database in
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: "SELECT id, name, path, updatedAt FROM project ORDER BY updatedAt DESC, name"
                )
            )
            var projects: [CompanionProject] = []
            while let row = try rows.next() {
                guard listed.contains(row[0]) else { continue }
                projects.append(
                    CompanionProject(
                        id: row[0],
                        name: row[1],
                        localPath: row[2],
                        lastUpdatedAt: CompanionTimestamp.date(from: row[3])
                    )
                )
            }
            return projects
        }
    }

    /// What a chat that has neither a title nor a prompt yet is called.
    static let untitled = "New chat"

    /// The chats of a project, newest first; none for a project that is not listed.
    func chats(projectID: String) async throws(CompanionHostError) -> [CompanionChat] {
        guard catalog.project(id: projectID) != nil else { return [] }
        return try await database.read { database in
            let statement = try database.cachedStatement(
                sql:
                    "SELECT id, project, title, updatedAt FROM chat WHERE project = ? ORDER BY updatedAt DESC, key DESC"
            )
            let rows = try Row.fetchCursor(statement, arguments: [projectID])
            var chats: [CompanionChat] = []
            while let row = try rows.next() {
                chats.append(
                    CompanionChat(
                        id: row[0],
                        projectId: row[1],
                        title: (row[2] as String).isEmpty ? Self.untitled : row[2],
                        lastUpdatedAt: CompanionTimestamp.date(from: row[3])
                    )
                )
            }
            return chats
        }
    }

    /// The project of a chat, listed or not; nil for an unknown chat.
    func projectID(ofChat id: String) async throws(CompanionHostError) -> String? {
        try await database.read { database in
            try String.fetchOne(
                database.cachedStatement(sql: "SELECT project FROM chat WHERE id = ?"),
                arguments: [id]
            )
        }
    }

    /// Adds a message to the end of a chat, which is made when it does not exist yet.
    ///
    /// - Parameters:
    ///   - project: Where a new chat belongs; an old one stays where it is.
    ///   - title: The title of a new chat.
    @discardableResult
    func append(
        role: CompanionMessage.Role,
        text: String,
        chatID: String,
        project: ProjectCatalog.Project,
        title: @autoclosure @Sendable () -> String
    ) async throws(CompanionHostError) -> CompanionMessage {
        let now = clock.now()
        let time = CompanionTimestamp.string(from: now)
        let title = title()
        let id = UUID().uuidString.lowercased()
        _ = try await database.write { database -> String? in
            try database.execute(
                sql: "INSERT INTO chat (id, project, title, updatedAt) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                arguments: [chatID, project.id, title, time]
            )
            let statement = try database.cachedStatement(sql: "SELECT key, messages, project FROM chat WHERE id = ?")
            guard let chat = try Row.fetchOne(statement, arguments: [chatID]) else { return nil }
            let key: Int64 = chat[0]
            try database.execute(
                sql: "INSERT INTO message (chat, number, id, role, text, createdAt) VALUES (?, ?, ?, ?, ?, ?)",
                // As bytes: a bound text would end at its first NUL.
                arguments: [key, chat[1] as Int, id, role.rawValue, Data(text.utf8), time]
            )
            try database.execute(
                sql: """
                    UPDATE chat SET messages = messages + 1, updatedAt = ?,
                        title = CASE title WHEN '' THEN ? ELSE title END
                    WHERE key = ?
                    """,
                arguments: [time, title, key]
            )
            try database.execute(
                sql: "UPDATE project SET updatedAt = ? WHERE id = ?",
                arguments: [time, chat[2] as String]
            )
            return chat[2]
        } committed: { [live] projectID in
            live.publish(
                LiveEvent(.messageCreated, at: now, projectId: projectID, chatId: chatID, messageId: id)
            )
            live.publish(LiveEvent(.chatChanged, at: now, projectId: projectID, chatId: chatID))
        }
        return CompanionMessage(id: id, role: role, text: text, createdAt: now)
    }

    /// The title of a chat that begins with a prompt: white space folded, over 48 UTF-16 units cut to 45 and `...`.
    package static func title(prompt: String) -> String {
        let folded = prompt.split { $0.isWhitespace || $0 == "\0" }.joined(separator: " ")
        guard folded.utf16.count > 48 else { return folded }
        var units = 0
        let kept = folded.unicodeScalars.prefix { scalar in
            units += UTF16.width(scalar)
            return units <= 45
        }
        return String(String.UnicodeScalarView(kept)) + "..."
    }
}
