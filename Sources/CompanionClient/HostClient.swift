import CompanionWire

/// The capabilities of a paired host of any family. A capability is nil if the family, or the host's generation of it,
/// does not have it.
package struct HostClient: Sendable {
    /// Whether no request goes to the host: the data was read earlier.
    package var isLocal: Bool
    /// Lists and unpairs devices.
    package var devices: (any DeviceManaging)?
    /// Lists the models of the host's assistant.
    package var models: (any ModelListing)?
    /// Lists projects.
    package var projects: (any ProjectBrowsing)?
    /// Lists chats and reads their messages.
    package var chats: (any ChatBrowsing)?
    /// Sends prompts and follows their turns.
    package var turns: (any TurnRunning)?
    /// Makes projects and chats.
    package var creation: (any ProjectCreating)?
    /// Stops a turn that runs.
    package var cancellation: (any TurnCancelling)?
    /// Reports events of the host while they happen.
    package var events: (any EventReporting)?
    /// Tells which files a chat's agent has changed.
    package var changes: (any ChangeReporting)?
    /// Lists and decides requests for approval.
    package var approvals: (any ApprovalDeciding)?
    /// Opens sessions of the host's agents for editors.
    package var agents: (any AgentOpening)?

    package init(
        isLocal: Bool = false,
        devices: (any DeviceManaging)? = nil,
        models: (any ModelListing)? = nil,
        projects: (any ProjectBrowsing)? = nil,
        chats: (any ChatBrowsing)? = nil,
        turns: (any TurnRunning)? = nil,
        creation: (any ProjectCreating)? = nil,
        cancellation: (any TurnCancelling)? = nil,
        events: (any EventReporting)? = nil,
        changes: (any ChangeReporting)? = nil,
        approvals: (any ApprovalDeciding)? = nil,
        agents: (any AgentOpening)? = nil
    ) {
        self.isLocal = isLocal
        self.devices = devices
        self.models = models
        self.projects = projects
        self.chats = chats
        self.turns = turns
        self.creation = creation
        self.cancellation = cancellation
        self.events = events
        self.changes = changes
        self.approvals = approvals
        self.agents = agents
    }
}
