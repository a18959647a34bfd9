package import CompanionWire
package import FoundationEssentials

/// The session of an agent that a chat goes on in.
package struct AgentSessionRecord: Sendable, Hashable {
    /// The chat, which has one session at most.
    package var chatID: String
    /// The owner of the session: ``ACPLaunch/sessionOwner``.
    package var agent: String
    /// The session's id, as the agent has given it.
    package var sessionID: String
    /// The absolute path of the directory that the session works in.
    package var directory: String
    /// Whether the agent listed it before it was a chat.
    package var beganElsewhere = false
}

/// Remembers the agent's session of each chat over restarts of the host.
package protocol AgentSessionStore: Sendable {
    /// The session of a chat; nil if it has none.
    func session(chatID: String) async throws -> AgentSessionRecord?
    /// Stores the session of a chat in place of an earlier one.
    func keep(_ session: AgentSessionRecord) async throws
}

/// A session that an agent lists, wherever it began.
package struct ListedSession: Sendable, Hashable {
    /// The session's id, as the agent has given it.
    package var id: String
    /// The absolute path of the directory that it works in, in the agent's words.
    package var directory: String
    /// One line; empty for none.
    package var title: String
    /// When it last changed; nil if the agent does not tell.
    package var updatedAt: Date?
    /// Whether the agent says that another program has it open.
    package var isOpen: Bool
}

/// A message of a session, as its agent tells it again.
package struct ToldMessage: Sendable, Hashable {
    package var role: CompanionMessage.Role
    package var text: String

    package init(_ role: CompanionMessage.Role, _ text: String) {
        (self.role, self.text) = (role, text)
    }
}

/// An agent that tells which sessions it keeps, also those that began in its own terminal.
package protocol AgentSessionSource: Sendable {
    /// The id of its model.
    var modelID: String { get }
    /// The owner of the sessions (``AgentSessionRecord/agent``).
    var sessionOwner: String { get }

    /// Whether it can list sessions without being started for that.
    var isRunning: Bool { get }

    /// Lists its sessions, whatever directories they are in.
    ///
    /// - Parameter project: Where it is started if it has to be.
    /// - Returns: The newest ones, up to a limit; nil for an agent that lists none.
    /// - Throws: ``AgentError`` with a text for people; `CancellationError`.
    func sessions(startingIn project: String) async throws -> [ListedSession]?

    /// Opens a session for its chat, and returns what was said in it, the oldest first.
    ///
    /// - Parameter project: The path of the listed project that the session is in.
    /// - Returns: nil for an agent that does not tell. It takes the session up with the chat's next turn.
    /// - Throws: As ``sessions(startingIn:)``.
    func open(_ session: AgentSessionRecord, project: String) async throws -> [ToldMessage]?
}
