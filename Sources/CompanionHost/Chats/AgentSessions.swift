import CompanionWire
import FoundationEssentials
import GRDB

/// Which session of the agent each chat goes on in, in the host's database.
struct AgentSessions: AgentSessionStore {
    /// A session as it is stored.
    struct Stored: HostRecord {
        static let databaseTableName = "agentSession"

        var chat: String
        var agent: String
        var session: String
        var directory: String
        /// Whether the session was in the agent's list before it was a chat.
        var beganElsewhere = false
        /// The time of the session's state whose messages the chat has; nil if nothing came from there yet.
        var syncedAt: Date?
    }

    let database: HostDatabase

    func session(chatID: String) async throws -> AgentSessionRecord? {
        try await database.read { try Stored.fetchOne($0, key: chatID) }.map(AgentSessionRecord.init)
    }

    /// A session has no mode until the agent names one. That of a draft that is gone meanwhile is not kept.
    func keep(_ session: AgentSessionRecord) async throws {
        try await database.write { database in
            let chat = ChatRecord.filter(Column("id") == session.chatID)
            guard try chat.updateAll(database, Column("mode").set(to: nil)) > 0 else { return }
            if var same = try Stored.fetchOne(database, key: session.chatID), same.isOf(session) {
                same.directory = session.directory
                return try same.update(database)
            }
            try Stored(
                chat: session.chatID,
                agent: session.agent,
                session: session.sessionID,
                directory: session.directory
            ).insert(database, onConflict: .replace)
        }
    }

    /// Forgets the modes of chats that do not go on in sessions of some agents.
    ///
    /// - Parameter agents: ``ACPLaunch/sessionOwner`` of those that have sessions.
    func forgetModes(exceptOf agents: [String]) throws(CompanionHostError) {
        _ = try database.writeBlocking {
            let continued = Stored.select(Column("chat")).filter(agents.contains(Column("agent")))
            return try ChatRecord.filter(Column("mode") != nil && !continued.contains(Column("id")))
                .updateAll($0, Column("mode").set(to: nil))
        }
    }

    /// Notes the mode of a chat's agent, within a transaction; it is forgotten with the session, if there is one.
    static func keep(mode: AgentMode, ofChat chat: String, in database: Database) throws {
        try ChatRecord.filter(Column("id") == chat).updateAll(database, Column("mode").set(to: mode.name))
    }
}

extension AgentSessions.Stored {
    fileprivate func isOf(_ record: AgentSessionRecord) -> Bool {
        agent.isSame(as: record.agent) && session.isSame(as: record.sessionID)
    }
}

extension AgentSessionRecord {
    init(_ stored: AgentSessions.Stored) {
        self.init(
            chatID: stored.chat,
            agent: stored.agent,
            sessionID: stored.session,
            directory: stored.directory,
            beganElsewhere: stored.beganElsewhere
        )
    }
}

extension CompanionHostStore {
    /// The mode that the agent reported last for a chat; nil if it has reported none.
    func mode(ofChat id: String) async throws(CompanionHostError) -> AgentMode? {
        try await database.read { try ChatRecord.fetchOne($0, key: ["id": id])?.mode }.flatMap { AgentMode($0) }
    }

    /// The modes of all chats of which one is known, by the chats' ids.
    func modes() async throws(CompanionHostError) -> [ByteText: AgentMode] {
        try await database.read { database in
            var modes: [ByteText: AgentMode] = [:]
            for chat in try ChatRecord.filter(Column("mode") != nil).fetchAll(database) {
                modes[ByteText(chat.id)] = chat.mode.flatMap { AgentMode($0) }
            }
            return modes
        }
    }
}
