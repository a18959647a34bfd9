/// The settings with which an agent that speaks the Agent Client Protocol is started, and the limits that its owner
/// sets.
package struct ACPLaunch: Sendable, Hashable {
    /// The id of the model that devices see.
    package var id: String
    /// The agent's name for people.
    package var name: String
    /// The program and its arguments.
    package var command: [String]
    /// The environment variables that its process gets.
    package var environment: AgentEnvironment
    /// The id of the way to sign in that the host chooses when the agent asks; nil leaves that to its owner.
    package var signInMethod: String?
    /// An instruction for the owner: how to sign in at the host. nil for none.
    package var signInHint: String?
    /// Letters of modes of this agent in which it asks nothing, besides those of ``ACPModes``.
    package var bypassModes: Set<String>
    /// Whether sessions may run in a mode that asks nothing.
    package var allowsBypass: Bool
    /// Whether the sessions that the agent lists are chats of the host. Default: yes.
    package var listsSessions = true
    /// The box that its processes run in. Default: nil, none.
    package var sandbox: AgentSandbox?
    /// Absolute paths of its own files and directories, which it may write in the box too. Default: none.
    package var ownFiles: [String] = []
    /// Whether the owner gave the command; its id says nothing of it then.
    package var isCommand: Bool

    /// - Parameters:
    ///   - id: Default: `agent`, for a command that is no preset.
    ///   - command: The program and its arguments.
    package init(
        id: String = "agent",
        name: String,
        command: [String],
        environment: AgentEnvironment = AgentEnvironment(),
        signInMethod: String? = nil,
        signInHint: String? = nil,
        bypassModes: Set<String> = [],
        allowsBypass: Bool = false,
        isCommand: Bool = false
    ) {
        self.id = id
        self.name = name
        self.command = command
        self.environment = environment
        self.signInMethod = signInMethod
        self.signInHint = signInHint
        self.bypassModes = bypassModes
        self.allowsBypass = allowsBypass
        self.isCommand = isCommand
    }

    /// The agent that sessions belong to: its id, or its command if the owner gave that. Other agents do not know these
    /// sessions.
    var sessionOwner: String { isCommand ? command.joined(separator: " ") : id }
}

/// Something about the agent that the owner of the host has to know.
package struct AgentReport: Sendable, Hashable {
    /// A message for the owner: what happened, and how to fix it.
    package var message: String
    /// The last lines that the agent wrote to standard error.
    package var lines: [String] = []
    /// The path of the file with all that it wrote there; nil where that does not help.
    package var log: String?
}
