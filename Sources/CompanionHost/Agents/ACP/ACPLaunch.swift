/// How an agent that speaks the Agent Client Protocol is started, and what its owner lets it do.
package struct ACPLaunch: Sendable, Hashable {
    /// What the host offers it as: the id of its model.
    package var id: String
    /// What people call it.
    package var name: String
    /// The program and its arguments.
    package var command: [String]
    package var environment: AgentEnvironment
    /// The id of the way to sign in that the host chooses when the agent asks; nil leaves that to its owner.
    package var signInMethod: String?
    /// What its owner does at the host to sign in.
    package var signInHint: String?
    /// Letters of modes of this agent in which it asks nothing, besides those of ``ACPModes``.
    package var bypassModes: Set<String>
    /// Whether sessions may run in a mode that asks nothing.
    package var allowsBypass: Bool

    package init(
        id: String = "agent",
        name: String,
        command: [String],
        environment: AgentEnvironment = AgentEnvironment(),
        signInMethod: String? = nil,
        signInHint: String? = nil,
        bypassModes: Set<String> = [],
        allowsBypass: Bool = false
    ) {
        self.id = id
        self.name = name
        self.command = command
        self.environment = environment
        self.signInMethod = signInMethod
        self.signInHint = signInHint
        self.bypassModes = bypassModes
        self.allowsBypass = allowsBypass
    }

    /// What sessions belong to: another agent does not know them.
    var sessionOwner: String { id == "agent" ? command.joined(separator: " ") : id }
}

/// The session of an agent that a chat goes on in.
package struct AgentSessionRecord: Sendable, Hashable {
    package var chatID: String
    /// Whose session it is: ``ACPLaunch/sessionOwner``.
    package var agent: String
    package var sessionID: String
    package var directory: String
}

/// Keeps which session of the agent a chat goes on in, over restarts of the host.
package protocol AgentSessionStore: Sendable {
    func session(chatID: String) async throws -> AgentSessionRecord?
    func keep(_ session: AgentSessionRecord) async throws
}

/// Something about the agent that the owner of the host has to know.
package struct AgentReport: Sendable, Hashable {
    /// What happened, and the way out.
    package var message: String
    /// What the agent wrote to standard error last.
    package var lines: [String] = []
    /// The file with all that it wrote there; nil where that does not help.
    package var log: String?
}
