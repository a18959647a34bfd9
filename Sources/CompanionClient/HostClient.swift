import CompanionWire

/// The capabilities of a paired host of any family. A capability is nil if the family, or the host's generation of it,
/// does not have it.
package struct HostClient: Sendable {
    /// Whether no request goes to the host: the data was read earlier.
    package var isLocal: Bool
    package var devices: (any DeviceManaging)?
    package var models: (any ModelListing)?
    package var projects: (any ProjectBrowsing)?
    package var chats: (any ChatBrowsing)?
    package var turns: (any TurnRunning)?
    package var sessions: (any SessionBeginning)?
    package var creation: (any ProjectCreating)?
    package var cancellation: (any TurnCancelling)?
    package var events: (any EventReporting)?
    package var changes: (any ChangeReporting)?
    package var approvals: (any ApprovalDeciding)?

    package init(
        isLocal: Bool = false,
        devices: (any DeviceManaging)? = nil,
        models: (any ModelListing)? = nil,
        projects: (any ProjectBrowsing)? = nil,
        chats: (any ChatBrowsing)? = nil,
        turns: (any TurnRunning)? = nil,
        sessions: (any SessionBeginning)? = nil,
        creation: (any ProjectCreating)? = nil,
        cancellation: (any TurnCancelling)? = nil,
        events: (any EventReporting)? = nil,
        changes: (any ChangeReporting)? = nil,
        approvals: (any ApprovalDeciding)? = nil
    ) {
        self.isLocal = isLocal
        self.devices = devices
        self.models = models
        self.projects = projects
        self.chats = chats
        self.turns = turns
        self.sessions = sessions
        self.creation = creation
        self.cancellation = cancellation
        self.events = events
        self.changes = changes
        self.approvals = approvals
    }
}
