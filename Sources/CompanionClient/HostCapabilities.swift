package import CompanionWire

/// A host that lists its devices and can forget them.
package protocol DeviceManaging: Sendable {
    /// The host's status, with the connected device.
    func status() async throws -> CompanionStatusResponse
    /// Disconnects the connected device. A second call changes nothing.
    func disconnect() async throws -> CompanionStatusResponse
    func devices() async throws -> [CompanionDevice]
    /// Forgets a device. An unknown id is no error.
    func revokeDevice(id: String) async throws -> CompanionStatusResponse
}

/// A host that offers a choice of language models.
package protocol ModelListing: Sendable {
    func models() async throws -> [CompanionModel]
}

/// A host where a device can create projects, and chats before their first prompt.
package protocol ProjectCreating: Sendable {
    /// - Parameter localPath: A directory on the host; nil lets the host choose.
    func createProject(name: String, localPath: String?) async throws -> CompanionProject
    /// - Parameter title: nil lets the host derive one from the first prompt.
    func createChat(projectID: String, title: String?) async throws -> CompanionChat
}

/// The session of a host's agent, opened ahead of a prompt.
package struct OpenedAgent: Sendable, Hashable {
    /// The directory that it works in at the host.
    package var directory: String?
    /// The id of the project that the chat belongs to.
    package var projectID: String?
    /// Its words about itself and the session, as members of the Agent Client Protocol, with the last `updates` that
    /// hold; nil for an agent that does not speak it.
    package var facts: JSONValue?
    /// The turn that runs in the chat.
    package var turnID: String?

    package init(
        directory: String? = nil,
        projectID: String? = nil,
        facts: JSONValue? = nil,
        turnID: String? = nil
    ) {
        (self.directory, self.projectID, self.facts, self.turnID) = (directory, projectID, facts, turnID)
    }
}

/// A host whose agents' sessions can be opened and changed beside prompts, for editors.
package protocol AgentOpening: Sendable {
    /// Creates a chat that is on no list until it has a prompt.
    func createDraft(projectID: String) async throws -> CompanionChat
    /// - Parameter model: Which agent answers in a new chat; nil lets the host choose.
    func openAgent(chatID: String, model: String?) async throws -> OpenedAgent
    /// The events of a turn from its beginning, with the agent's own words where it tells them.
    func follow(turnID: String, inChat chatID: String) -> TurnEvents
    /// Changes the settings of an open session.
    ///
    /// - Parameter method: `session/set_mode` or `session/set_config_option`.
    /// - Returns: The agent's answer.
    func configureAgent(chatID: String, method: String, parameters: JSONValue) async throws -> JSONValue
}

/// A host whose turns can be cancelled.
package protocol TurnCancelling: Sendable {
    /// Cancels a turn; one that has ended stays as it is.
    ///
    /// - Returns: The turn's state after the request, as the host reports it; nil if it does not report any.
    func cancelTurn(chatID: String, turnID: String) async throws -> String?
}
