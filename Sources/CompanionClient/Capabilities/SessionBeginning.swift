/// A host whose agent has sessions that can be begun by themselves.
package protocol SessionBeginning: Sendable {
    /// Begins a session in a project's directory; one that was there ends.
    ///
    /// - Returns: The id of the session.
    func beginSession(in workingDirectory: String) async throws -> String
}
