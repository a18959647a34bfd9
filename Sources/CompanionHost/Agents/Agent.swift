package import CompanionWire

/// What an agent is asked.
package struct AgentTurn: Sendable {
    package var chatID: String
    package var prompt: String
    /// Where it works: absolute, symbolic links resolved, inside a listed project.
    package var directory: String
    /// Names of the tools that it may use; nil allows all.
    package var allowedTools: Set<String>?
}

/// What an agent says.
package enum AgentEvent: Sendable, Hashable {
    /// What it is doing, for people.
    case status(String)
    /// A piece of the answer.
    case text(String)
    case toolStart(name: String, id: String)
    case toolComplete(name: String, id: String, success: Bool, details: String?)
}

/// An agent could not answer.
package struct AgentError: Error, Sendable, CustomStringConvertible {
    /// What happened, for the person at the other end: no secrets, no paths outside of the project.
    package var message: String
    package var description: String { message }
}

/// Whatever answers prompts.
package protocol Agent: Sendable {
    /// The models that it offers; the first is the default.
    var models: [CompanionModel] { get }

    /// Whether it can work now. A host whose agent cannot answers like one without a signed-in user.
    func isAvailable() -> Bool

    /// Answers a prompt. Returns when the answer is complete and everything that it started has ended; has to do so
    /// soon after its task was cancelled.
    ///
    /// - Throws: ``AgentError`` with a text for people; what was said before still counts.
    func answer(_ turn: AgentTurn, emit: @escaping @Sendable (AgentEvent) -> Void) async throws
}
