import CompanionWire
import FoundationEssentials
import GRDB

extension CompanionHostStore {
    /// The chats that go on in sessions of agents.
    func chatsOfSessions() async throws(CompanionHostError) -> [SessionKey: String] {
        try await database.read { database in
            var chats: [SessionKey: String] = [:]
            for stored in try AgentSessions.Stored.fetchAll(database) {
                chats[SessionKey(agent: stored.agent, session: stored.session)] = stored.chat
            }
            return chats
        }
    }

    /// The session that a chat goes on in; nil if it has none.
    func agentSession(ofChat id: String) async throws(CompanionHostError) -> AgentSessions.Stored? {
        try await database.read { try AgentSessions.Stored.fetchOne($0, key: id) }
    }

    /// When a chat got its last message; nil for an unknown one.
    func lastChange(ofChat id: String) async throws(CompanionHostError) -> Date? {
        try await database.read { try ChatRecord.fetchOne($0, key: ["id": id])?.updatedAt }
    }

    /// Makes a chat of a session that began elsewhere.
    func adopt(
        _ chat: CompanionChat,
        session: AgentSessionRecord,
        told: [ToldMessage]
    ) async throws(CompanionHostError) {
        let changed = chat.lastUpdatedAt ?? clock.now()
        let stored = AgentSessions.Stored(
            chat: chat.id,
            agent: session.agent,
            session: session.sessionID,
            directory: session.directory,
            beganElsewhere: true,
            syncedAt: changed
        )
        try await database.write { database in
            try ChatRecord(
                id: chat.id,
                project: chat.projectId,
                title: chat.title,
                updatedAt: changed,
                model: chat.model
            ).insert(database)
            try stored.insert(database)
            try Self.add(told[...], to: chat.id, of: chat.projectId, at: changed, in: database)
        } committed: { [live] _ in
            live.publish(LiveEvent(.chatChanged, at: changed, projectId: chat.projectId, chatId: chat.id))
        }
    }

    /// Adds what was said in a chat's session elsewhere.
    ///
    /// - Parameters:
    ///   - told: All that the agent tells; nil if it tells nothing.
    ///   - changed: The time of the session's state.
    ///   - count: How many prompts of the chat are looked for in it.
    func add(
        _ told: [ToldMessage]?,
        to stored: AgentSessions.Stored,
        changedAt changed: Date,
        comparing count: Int
    ) async throws(CompanionHostError) {
        _ = try await database.write { database -> String? in
            guard let chat = try ChatRecord.fetchOne(database, key: ["id": stored.chat]) else { return nil }
            try AgentSessions.Stored.filter(key: stored.chat).updateAll(database, Column("syncedAt").set(to: changed))
            let prompts = try String.fetchAll(
                database,
                sql: "SELECT text FROM message WHERE chat = ? AND role = 'user' ORDER BY number DESC LIMIT ?",
                arguments: [chat.key, count]
            )
            let missing = ToldMessages.missing(of: told ?? [], after: prompts.reversed())
            try Self.add(missing, to: chat.id, of: chat.project, at: changed, in: database)
            return missing.isEmpty ? nil : chat.project
        } committed: { [live] projectID in
            guard let projectID else { return }
            live.publish(LiveEvent(.chatChanged, at: changed, projectId: projectID, chatId: stored.chat))
        }
    }

    private static func add(
        _ told: ArraySlice<ToldMessage>,
        to chatID: String,
        of projectID: String,
        at time: Date,
        in database: Database
    ) throws {
        for message in told {
            try insert(
                MessageDraft(
                    role: message.role,
                    text: message.text,
                    chatID: chatID,
                    projectID: projectID,
                    title: "",
                    at: time
                ),
                in: database
            )
        }
    }
}
