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

    func keep(_ session: AgentSessionRecord) async throws {
        try await database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO agentSession (chat, agent, session, directory) VALUES (?, ?, ?, ?)",
                arguments: [session.chatID, session.agent, session.sessionID, session.directory]
            )
        }
    }
}
