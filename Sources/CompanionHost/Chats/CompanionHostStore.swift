import CompanionWire
import FoundationEssentials
import GRDB
import NIOCore

/// The host's projects, chats and messages. Everything here survives a restart.
package final class CompanionHostStore: Sendable {
    let database: HostDatabase
    let catalog: ProjectCatalog
    let clock: HostClock
    let live: LiveEventBroadcaster

    /// - Parameter mayKeep: Whether a project that a device made earlier is still listed, by its path.
    /// - Throws: ``CompanionHostError`` when the database cannot be written.
    init(
        database: HostDatabase,
        catalog: ProjectCatalog,
        clock: HostClock,
        live: LiveEventBroadcaster,
        mayKeep: (String) -> Bool = { _ in false }
    ) throws(CompanionHostError) {
        self.database = database
        self.catalog = catalog
        self.clock = clock
        self.live = live
        let now = CompanionTimestamp.string(from: clock.now())
        _ = try database.writeBlocking { database in
            let insert = try database.makeStatement(
                sql: """
                    INSERT INTO project (id, name, path, updatedAt) VALUES (?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET name = excluded.name
                    """
            )
            for project in catalog.projects {
                try insert.execute(arguments: [project.id, project.name, project.path, now])
            }
            for row in try Table("project").filter(Column("isMade")).fetchAll(database) where mayKeep(row["path"]) {
                catalog.add(ProjectCatalog.Project(madeAt: row["path"], name: row["name"]))
            }
        }
    }

    /// Bytes that the id of a chat may have; devices choose ids.
    static let maximumChatIDSize = 200
    /// The title of a chat that has neither a title of its own nor a prompt yet.
    static let untitled = "New chat"

    /// The chats of a project, newest first; none for a project that is not listed.
    func chats(projectID: String) async throws(CompanionHostError) -> [CompanionChat] {
        guard catalog.project(id: projectID) != nil else { return [] }
        return try await database.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT id, project, title, updatedAt, mode, model
                    FROM chat WHERE project = ? AND draftOf IS NULL ORDER BY updatedAt DESC, key DESC
                    """,
                arguments: [projectID]
            )
            return try Array(
                rows.map { row in
                    let title: String = row["title"]
                    return CompanionChat(
                        id: row["id"],
                        projectId: row["project"],
                        title: title.isEmpty ? Self.untitled : title,
                        lastUpdatedAt: CompanionTimestamp.date(from: row["updatedAt"]),
                        mode: (row["mode"] as String?).flatMap { AgentMode($0) },
                        model: row["model"]
                    )
                }
            )
        }
    }

    /// The project of a chat, listed or not; nil for an unknown chat.
    func projectID(ofChat id: String) async throws(CompanionHostError) -> String? {
        try await database.read { try ChatRecord.fetchOne($0, key: ["id": id])?.project }
    }

    /// The model that answered last in a chat; nil if none did.
    func model(ofChat id: String) async throws(CompanionHostError) -> String? {
        try await database.read { try ChatRecord.fetchOne($0, key: ["id": id])?.model }
    }

    /// Notes the model that answers in a chat that has none yet.
    func choose(model: String, inChat id: String) async throws(CompanionHostError) {
        _ = try await database.write { database in
            try ChatRecord.filter(Column("id") == id && Column("model") == nil)
                .updateAll(database, Column("model").set(to: model))
        }
    }

    /// The title of a chat; nil without such a chat.
    func title(ofChat id: String) async throws(CompanionHostError) -> String? {
        try await database.read { try ChatRecord.fetchOne($0, key: ["id": id])?.title }
    }

    /// Adds an empty chat, within a transaction. Without a title it takes one from its first prompt.
    func add(_ chat: CompanionChat, in database: Database) throws {
        try ChatRecord(
            id: chat.id,
            project: chat.projectId,
            title: chat.title,
            updatedAt: chat.lastUpdatedAt ?? .distantPast
        ).insert(database)
    }

    /// Drafts of a device that are kept, and how long.
    private static let (mostDrafts, draftsKept) = (50, TimeInterval(24 * 3600))

    /// Adds a chat that is on no list until its first prompt, and removes old ones of the device that got none.
    ///
    /// - Returns: The ids of those.
    func addDraft(_ chat: CompanionChat, of device: String, in database: Database) throws -> [String] {
        let now = chat.lastUpdatedAt ?? .distantPast
        let limit = now.addingTimeInterval(-Self.draftsKept)
        let drafts = try ChatRecord.filter(Column("draftOf") == device).order(Column("key").desc).fetchAll(database)
        let kept = drafts.prefix(Self.mostDrafts - 1).prefix { $0.updatedAt >= limit }
        let removed = drafts.dropFirst(kept.count).map(\.id)
        try ChatRecord.filter(removed.contains(Column("id"))).deleteAll(database)
        // Its session is the agent's alone from now on.
        try AgentSessions.Stored.filter(removed.contains(Column("chat"))).deleteAll(database)
        try ChatRecord(id: chat.id, project: chat.projectId, title: chat.title, updatedAt: now, draftOf: device)
            .insert(database)
        return removed
    }

    /// Returns the project and the directory that a turn works in: `projectPath`, which has to be inside a listed
    /// project. Without it, the chat's project; for a new chat, the first one that is listed.
    ///
    /// - Throws: ``HostError``: `request.forbidden`, `request.invalid`; ``CompanionHostError``.
    func workplace(
        chatID: String,
        projectPath: String?
    ) async throws -> (project: ProjectCatalog.Project, directory: String) {
        let known = try await projectID(ofChat: chatID)
        let ofChat = known.flatMap(catalog.project(id:))
        let notListed = Self.refusal(.requestForbidden, text: "projectPath is not inside a project of this host")
        if known != nil, ofChat == nil { throw notListed }
        if let projectPath, !projectPath.isEmpty {
            guard projectPath.begins(with: "/") else {
                throw Self.refusal(.requestInvalid, text: "projectPath has to be an absolute path")
            }
            guard let place = catalog.locate(projectPath) else { throw notListed }
            return place
        }
        guard let project = ofChat ?? catalog.projects.first else {
            throw Self.refusal(.requestInvalid, text: "This host lists no project: projectPath is required")
        }
        return (project, project.path)
    }

    private static func refusal(_ code: CompanionErrorCode, text: String) -> HostError {
        HostError(code, text, variant: .textOnlyInV1)
    }

    /// The title of a chat that begins with a prompt: white space folded, over 48 UTF-16 units cut to 45 and `...`.
    package static func title(prompt: String) -> String {
        // 49 words have 49 units at least: the rest of a long prompt is not looked at.
        let words = prompt.unicodeScalars.split(maxSplits: 49) { $0.properties.isWhitespace || $0 == "\0" }
        let folded = words.map { String($0) }.joined(separator: " ")
        guard folded.utf16.count > 48 else { return folded }
        var units = 0
        let kept = folded.unicodeScalars.prefix { scalar in
            units += UTF16.width(scalar)
            return units <= 45
        }
        return String(String.UnicodeScalarView(kept)) + "..."
    }
}
