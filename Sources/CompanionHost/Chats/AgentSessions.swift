import CompanionWire
import GRDB

/// Which session of the agent each chat goes on in, in the host's database.
struct AgentSessions: AgentSessionStore {
    let database: HostDatabase

    func session(chatID: String) async throws -> AgentSessionRecord? {
        try await database.read { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT agent, session, directory FROM agentSession WHERE chat = ?",
                arguments: [chatID]
            )
            return row.map {
                AgentSessionRecord(chatID: chatID, agent: $0[0], sessionID: $0[1], directory: $0[2])
            }
        }
    }

    /// A new session has no mode until the agent names one.
    func keep(_ session: AgentSessionRecord) async throws {
        try await database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO agentSession (chat, agent, session, directory) VALUES (?, ?, ?, ?)",
                arguments: [session.chatID, session.agent, session.sessionID, session.directory]
            )
        }
    }

    /// Forgets the modes of sessions of other agents, because those sessions do not continue.
    ///
    /// - Parameter agent: ``ACPLaunch/sessionOwner``; nil for an agent without sessions.
    func forgetModes(exceptOf agent: String?) throws(CompanionHostError) {
        try database.writeBlocking { database in
            try database.execute(
                sql: "UPDATE agentSession SET mode = NULL WHERE mode IS NOT NULL AND agent IS NOT ?",
                arguments: [agent]
            )
        }
    }

    /// Notes the mode of a chat's session, within a transaction; it is forgotten with the session.
    static func keep(mode: AgentMode, ofChat chat: String, in database: Database) throws {
        try database.execute(sql: "UPDATE agentSession SET mode = ? WHERE chat = ?", arguments: [mode.name, chat])
    }
}

extension CompanionHostStore {
    /// The mode that the agent reported last for a chat; nil if it has reported none.
    func mode(ofChat id: String) async throws(CompanionHostError) -> AgentMode? {
        let name: String? = try await database.read { database in
            try String.fetchOne(database, sql: "SELECT mode FROM agentSession WHERE chat = ?", arguments: [id])
        }
        return name.flatMap { AgentMode($0) }
    }

    /// The modes of all chats of which one is known, by the chats' ids.
    func modes() async throws(CompanionHostError) -> [ByteText: AgentMode] {
        try await database.read { database in
            var modes: [ByteText: AgentMode] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT chat, mode FROM agentSession WHERE mode IS NOT NULL") {
                modes[ByteText(row[0] as String)] = AgentMode(row[1] as String)
            }
            return modes
        }
    }
}
