package import CompanionWire

/// A host that executes signed commands: by protocol v2, once each.
package protocol CommandSending: Sendable {
    /// Executes any command.
    func execute(_ payload: CommandPayload) async throws -> CommandResponse
    /// - Parameter localPath: A directory of the host. Nil: the host chooses.
    func createProject(name: String, localPath: String?) async throws -> CompanionProject
    /// - Returns: The id of the session.
    func createSession(projectID: String) async throws -> String
    /// - Parameter title: Nil: the host takes one from the first prompt.
    func createChat(projectID: String, title: String?) async throws -> CompanionChat
    /// Hands a prompt to a chat. The turn runs whether somebody follows it or not.
    ///
    /// - Returns: The id of the turn.
    func startTurn(chatID: String, _ request: ContinueChatRequest) async throws -> String
    /// Ends a turn.
    ///
    /// - Returns: What the host says of the turn.
    func cancelTurn(chatID: String, turnID: String) async throws -> JSONValue
}
