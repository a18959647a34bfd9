import CompanionWire
import Logging

/// The session of a chat does not go on, and no other one is to take its place now.
struct ACPSessionLost: Error {}

extension ACPAgent {
    /// The agent's session of a chat: the one that it has, the one of an earlier process, or a new one.
    func session(
        of turn: AgentTurn,
        info: ACPAgentInfo,
        connection: ACPConnection,
        conversation: AgentConversation,
        mayReplace: Bool
    ) async throws -> String {
        let known = connection.session(ofChat: turn.chatID)
        if let known, known.directory.isSame(as: turn.directory) { return known.id }
        let stored: AgentSessionRecord?
        do {
            stored = try await sessions.session(chatID: turn.chatID)
        } catch {
            throw AgentError(message: "The host could not read which session of the agent this chat has")
        }
        var lost: String?
        if let stored {
            if !stored.agent.isSame(as: launch.sessionOwner) {
                lost = "Another agent answered here before"
            } else if !stored.directory.isSame(as: turn.directory) {
                lost = "The chat works in another directory now"
            } else if try await takeUp(stored, info: info, connection: connection, conversation: conversation) {
                return stored.sessionID
            } else {
                lost = "\(launch.name) could not resume its session"
            }
        }
        guard lost == nil || mayReplace else { throw ACPSessionLost() }
        return try await newSession(of: turn, lost: lost, connection: connection, conversation: conversation)
    }

    /// Begins a session.
    ///
    /// - Parameter lost: Why the chat's earlier one does not go on; nil where there was none.
    func newSession(
        of turn: AgentTurn,
        lost: String?,
        connection: ACPConnection,
        conversation: AgentConversation
    ) async throws -> String {
        let call = ACPCall.newSession(directory: turn.directory)
        let answer = try await connection.call(call, chat: turn.chatID, within: limits.session)
        guard let id = call.opened(by: answer)?.id else {
            throw AgentError(message: "\(launch.name) started no session")
        }
        let record = AgentSessionRecord(
            chatID: turn.chatID,
            agent: launch.sessionOwner,
            sessionID: id,
            directory: turn.directory
        )
        await keep(record)
        if let lost {
            let text = "\(lost): this is a new session without the earlier messages."
            if turn.content != nil {
                let update: JSONValue = [
                    "sessionUpdate": "agent_message_chunk",
                    "content": ["type": "text", "text": .string("> \(text)\n\n")],
                ]
                conversation.emit(.acp(ACPFrame(.update(update))))
            }
            conversation.notice(text)
        }
        return id
    }

    /// Stores which session a chat has, without a mode.
    private func keep(_ record: AgentSessionRecord) async {
        do {
            try await sessions.keep(record)
        } catch {
            // The chat goes on; only a restart would start a new session.
            logger.warning("agent's session not stored", metadata: .failure(error, ["chat": "\(record.chatID)"]))
        }
    }

    /// - Returns: false when the agent cannot.
    private func takeUp(
        _ record: AgentSessionRecord,
        info: ACPAgentInfo,
        connection: ACPConnection,
        conversation: AgentConversation
    ) async throws -> Bool {
        var ways: [ACPCall] = []
        if info.resumes { ways.append(.resumeSession(record.sessionID, directory: record.directory)) }
        if info.loads { ways.append(.loadSession(record.sessionID, directory: record.directory)) }
        if !ways.isEmpty { conversation.emit(.status("Resuming the session")) }
        for way in ways {
            do {
                _ = try await connection.call(way, chat: record.chatID, within: limits.session)
                // The mode that an earlier process named is not this one's.
                if connection.modes(ofSession: record.sessionID) == nil { await keep(record) }
                return true
            } catch let refusal as ACPRefusal where refusal.code != ACPRefusal.signInRequired {
                if record.beganElsewhere, refusal.code != ACPRefusal.notFound {
                    // What began elsewhere has to go on there: a new session would be another conversation.
                    throw AgentError(
                        message: "\(launch.name) could not open this session, and the prompt was not sent: "
                            + Self.reason(refusal)
                    )
                }
                logger.info("agent's session not taken up", metadata: .failure(refusal, ["chat": "\(record.chatID)"]))
            }
        }
        return false
    }
}
