/// The reason for which an agent's last turn or its process failed.
package struct AgentTrouble: Sendable, Hashable, Codable {
    /// A message for the owner: what happened, and how to fix it.
    package var message: String
    /// Whether it asks its owner to sign in.
    package var needsSignIn: Bool

    package init(message: String, needsSignIn: Bool) {
        self.message = message
        self.needsSignIn = needsSignIn
    }
}
