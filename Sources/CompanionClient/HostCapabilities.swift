package import CompanionWire

/// A host that says what it is and how it does.
package protocol HealthProbing: Sendable {
    func health() async throws -> CompanionHealthResponse
}

/// A host that knows devices and lets go of them.
package protocol DeviceManaging: Sendable {
    /// Which device is connected.
    func status() async throws -> CompanionStatusResponse
    /// Ends the connection of whichever device is connected. To ask again changes nothing.
    func disconnect() async throws -> CompanionStatusResponse
    func devices() async throws -> [CompanionDevice]
    /// Forgets a device. An unknown id is no error.
    func revokeDevice(id: String) async throws -> CompanionStatusResponse
}

/// A host that offers a choice of language models.
package protocol ModelListing: Sendable {
    func models() async throws -> [CompanionModel]
}

/// A host whose agent has sessions that can be begun by themselves.
package protocol SessionBeginning: Sendable {
    /// Begins a session in a project's directory; one that was there ends.
    ///
    /// - Returns: The id of the session.
    func beginSession(in workingDirectory: String) async throws -> String
}
