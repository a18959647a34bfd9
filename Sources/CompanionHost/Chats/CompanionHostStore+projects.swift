import CompanionWire
import FoundationEssentials
import GRDB
import NIOCore

extension CompanionHostStore {
    /// The listed projects as the JSON of ``CompanionProjectsResponse``, the one that was worked in last first.
    /// Projects that are no longer listed keep their chats in the database, and are not served.
    ///
    /// Written straight from SQLite's memory: all come in one answer, and there may be very many.
    func projectsList() async throws(CompanionHostError) -> ByteBuffer {
        try await database.read { [catalog] database in
            let statement = try database.cachedStatement(
                sql: "SELECT id, name, path, updatedAt FROM project ORDER BY updatedAt DESC, name"
            )
            var buffer = ByteBufferAllocator().buffer(capacity: 16 << 10)
            buffer.writeStaticString(#"{"ok":true,"projects":["#)
            let rows = try Row.fetchCursor(statement)
            var isFirst = true
            while let row = try rows.next() {
                guard catalog.project(id: row["id"]) != nil else { continue }
                buffer.writeStaticString(isFirst ? #"{"id":"# : #",{"id":"#)
                isFirst = false
                buffer.writeJSONString(utf8: statement.bytes(ofColumn: 0))
                buffer.writeStaticString(#","name":"#)
                buffer.writeJSONString(utf8: statement.bytes(ofColumn: 1))
                buffer.writeStaticString(#","localPath":"#)
                buffer.writeJSONString(utf8: statement.bytes(ofColumn: 2))
                buffer.writeStaticString(#","lastUpdatedAt":"#)
                buffer.writeJSONString(utf8: statement.bytes(ofColumn: 3))
                buffer.writeStaticString("}")
            }
            buffer.writeStaticString("]}")
            return buffer
        }
    }

    /// Lists a project that a device made, within a transaction. One that is known already keeps its name.
    func add(_ project: ProjectCatalog.Project, at now: Date, in database: Database) throws -> CompanionProject {
        try database.execute(
            sql: """
                INSERT INTO project (id, name, path, updatedAt, isMade) VALUES (?, ?, ?, ?, 1)
                ON CONFLICT (id) DO UPDATE SET isMade = 1
                """,
            arguments: [project.id, project.name, project.path, CompanionTimestamp.string(from: now)]
        )
        let row = try Table("project").filter(key: project.id).fetchOne(database)
        return CompanionProject(
            id: project.id,
            name: row?["name"] ?? project.name,
            localPath: project.path,
            lastUpdatedAt: (row?["updatedAt"] as String?).flatMap(CompanionTimestamp.date(from:)) ?? now
        )
    }
}
