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
        /// The name of the mode that the agent reported last.
        var mode: String?
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
            guard try ChatRecord.filter(Column("id") == session.chatID).fetchCount(database) > 0 else { return }
            if var same = try Stored.fetchOne(database, key: session.chatID), same.isOf(session) {
                (same.directory, same.mode) = (session.directory, nil)
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

    /// Forgets the modes of sessions of other agents, because those sessions do not continue.
    ///
    /// - Parameter agents: ``ACPLaunch/sessionOwner`` of those that have sessions.
    func forgetModes(exceptOf agents: [String]) throws(CompanionHostError) {
        _ = try database.writeBlocking {
            try Stored.filter(Column("mode") != nil && !agents.contains(Column("agent")))
                .updateAll($0, Column("mode").set(to: nil))
        }
    }

    /// Notes the mode of a chat's session, within a transaction; it is forgotten with the session.
    static func keep(mode: AgentMode, ofChat chat: String, in database: Database) throws {
        try Stored.filter(key: chat).updateAll(database, Column("mode").set(to: mode.name))
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
        try await database.read { try AgentSessions.Stored.fetchOne($0, key: id)?.mode }.flatMap { AgentMode($0) }
    }

    /// The modes of all chats of which one is known, by the chats' ids.
    func modes() async throws(CompanionHostError) -> [ByteText: AgentMode] {
        try await database.read { database in
            var modes: [ByteText: AgentMode] = [:]
            for session in try AgentSessions.Stored.filter(Column("mode") != nil).fetchAll(database) {
                modes[ByteText(session.chat)] = session.mode.flatMap { AgentMode($0) }
            }
            return modes
        }
    }
}
