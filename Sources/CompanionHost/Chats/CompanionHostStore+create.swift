import CompanionWire
import FoundationEssentials
import GRDB

extension CompanionHostStore {
    /// Lists a project that a device made, within a transaction. One that is known already keeps its name.
    func add(_ project: ProjectCatalog.Project, at now: Date, in database: Database) throws -> CompanionProject {
        try database.execute(
            sql: """
                INSERT INTO project (id, name, path, updatedAt, isMade) VALUES (?, ?, ?, ?, 1)
                ON CONFLICT (id) DO UPDATE SET isMade = 1
                """,
            arguments: [project.id, project.name, project.path, CompanionTimestamp.string(from: now)]
        )
        let statement = try database.cachedStatement(sql: "SELECT name, updatedAt FROM project WHERE id = ?")
        let row = try Row.fetchOne(statement, arguments: [project.id])
        return CompanionProject(
            id: project.id,
            name: row?[0] ?? project.name,
            localPath: project.path,
            lastUpdatedAt: (row?[1] as String?).flatMap(CompanionTimestamp.date(from:)) ?? now
        )
    }

    /// Adds an empty chat, within a transaction. Without a title it takes one from its first prompt.
    func add(_ chat: CompanionChat, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO chat (id, project, title, updatedAt) VALUES (?, ?, ?, ?)"
        )
        let time = CompanionTimestamp.string(from: chat.lastUpdatedAt ?? .distantPast)
        try statement.execute(arguments: [chat.id, chat.projectId, chat.title, time])
    }

    /// The project of a chat, listed or not; nil for an unknown chat. Within a transaction.
    func projectID(ofChat id: String, in database: Database) throws -> String? {
        try String.fetchOne(
            database.cachedStatement(sql: "SELECT project FROM chat WHERE id = ?"),
            arguments: [id]
        )
    }
}
