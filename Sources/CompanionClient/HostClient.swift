import CompanionWire

/// What a paired host offers, whatever its family: a capability is nil where the family, or the host's generation of
/// it, has no such thing.
package struct HostClient: Sendable {
    package var health: (any HealthProbing)?
    package var devices: (any DeviceManaging)?
    package var models: (any ModelListing)?
    package var projects: (any ProjectBrowsing)?
    package var chats: (any ChatBrowsing)?
    package var turns: (any TurnRunning)?
    /// Sessions of the agent, where the family begins them by other means than a signed command.
    package var sessions: (any SessionBeginning)?
    /// Of CopilotForge's hosts alone, as other families have no such commands.
    package var commands: SignedCommands?
    package var events: (any EventReporting)?
    package var changes: (any ChangeReporting)?
    package var approvals: (any ApprovalDeciding)?

    package init(
        health: (any HealthProbing)? = nil,
        devices: (any DeviceManaging)? = nil,
        models: (any ModelListing)? = nil,
        projects: (any ProjectBrowsing)? = nil,
        chats: (any ChatBrowsing)? = nil,
        turns: (any TurnRunning)? = nil,
        sessions: (any SessionBeginning)? = nil,
        commands: SignedCommands? = nil,
        events: (any EventReporting)? = nil,
        changes: (any ChangeReporting)? = nil,
        approvals: (any ApprovalDeciding)? = nil
    ) {
        self.health = health
        self.devices = devices
        self.models = models
        self.projects = projects
        self.chats = chats
        self.turns = turns
        self.sessions = sessions
        self.commands = commands
        self.events = events
        self.changes = changes
        self.approvals = approvals
    }
}
