package import CompanionWire

/// What a paired host offers, whatever its family: a capability is nil where the family, or the host's generation of
/// it, has no such thing.
package struct HostClient: Sendable {
    package var family: HostFamily
    package var health: (any HealthProbing)?
    package var devices: (any DeviceManaging)?
    package var models: (any ModelListing)?
    package var projects: (any ProjectBrowsing)?
    package var chats: (any ChatBrowsing)?
    /// Prompts, where the family has its own way with them. CopilotForge's is ``ChatTurn`` or ``FollowedTurn``.
    package var turns: (any TurnRunning)?
    /// Sessions of the agent, where the family begins them by other means than a signed command.
    package var sessions: (any SessionBeginning)?

    package init(
        family: HostFamily,
        health: (any HealthProbing)? = nil,
        devices: (any DeviceManaging)? = nil,
        models: (any ModelListing)? = nil,
        projects: (any ProjectBrowsing)? = nil,
        chats: (any ChatBrowsing)? = nil,
        turns: (any TurnRunning)? = nil,
        sessions: (any SessionBeginning)? = nil
    ) {
        self.family = family
        self.health = health
        self.devices = devices
        self.models = models
        self.projects = projects
        self.chats = chats
        self.turns = turns
        self.sessions = sessions
    }

    /// A CopilotForge host.
    package init(_ client: CompanionAPIClient) {
        self.init(
            family: .copilotforge,
            health: client,
            devices: client,
            models: client,
            projects: client,
            chats: client
        )
    }
}
