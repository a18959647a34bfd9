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

/// A host whose turns can be cancelled.
package protocol TurnCancelling: Sendable {
    /// Cancels a turn; one that has ended stays as it is.
    ///
    /// - Returns: The turn's state after the request, as the host reports it; nil if it does not report any.
    func cancelTurn(chatID: String, turnID: String) async throws -> String?
}
