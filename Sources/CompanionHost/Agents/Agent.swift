package import CompanionWire

/// What an agent is asked.
package struct AgentTurn: Sendable {
    /// The turn's id; empty where none is known.
    package var id: String = ""
    package var chatID: String
    package var prompt: String
    /// Where it works: absolute, symbolic links resolved, inside a listed project.
    package var directory: String
    /// The path of the listed project, which stays when a working tree is removed; nil where none is known.
    package var project: String?
    /// Names of the tools that it may use; nil allows all. An agent that asks before it uses a tool is not bound by
    /// them: its question is.
    package var allowedTools: Set<String>?
    /// The id of one of the agent's models; empty for the first.
    package var model: String = ""
    /// How freely the agent works, as it said last in this turn.
    package var mode: AgentMode?
}

/// What an agent is asked before it can go on. Nothing is allowed by itself.
package struct AgentQuestion: Sendable, Hashable {
    package var call: ToolReport
    /// What the tool would do, in full: a command, a difference, or arguments as JSON.
    package var arguments: String
    /// The command that it would run, as it would be typed; nil for none.
    package var command: String?
    /// Where it would run the command, in the agent's words; empty where it does not say.
    package var directories: [String] = []
    /// Whether its arguments have members that may change what the command does, such as variables.
    package var hasUnknownArguments = false
    /// The answers as the agent gave them.
    package var options: [AgentOption]

    /// The answer of someone who allows nothing.
    package var rejection: ApprovalAnswer {
        let option = try? ApprovalAnswer.reject(always: false, reason: nil).option(of: options, mayAlways: true)
        return option.map { ApprovalAnswer.option($0.id) } ?? .cancelled
    }
}

/// An agent could not answer.
package struct AgentError: Error, Sendable, CustomStringConvertible {
    /// What happened, for the person at the other end: no secrets, no paths outside of the project.
    package var message: String
    /// Whether it answers nobody until something is done at the host: it asks to sign in, or does not start.
    package var isUnavailable = false
    package var description: String { message }
}

/// Why an agent did not do its work the last time that it had some.
package struct AgentTrouble: Sendable, Hashable, Codable {
    /// What happened, and the way out.
    package var message: String
    /// Whether it asks its owner to sign in.
    package var needsSignIn: Bool
}

/// How an agent and a turn's reader speak to each other.
package struct AgentConversation: Sendable {
    /// Passes on an event. The host itself says how a turn has ended.
    package let emit: @Sendable (TurnEvent) -> Void
    /// Says something that people have to know of the conversation itself: a paragraph of the answer.
    package let notice: @Sendable (String) -> Void
    /// Says that the agent works, and nothing else.
    package let keepAlive: @Sendable () -> Void
    /// Asks the person, and waits. Returns `cancelled` soon after its task was cancelled.
    package let ask: @Sendable (AgentQuestion) async -> ApprovalAnswer

    package init(
        emit: @escaping @Sendable (TurnEvent) -> Void,
        notice: @escaping @Sendable (String) -> Void,
        keepAlive: @escaping @Sendable () -> Void,
        ask: @escaping @Sendable (AgentQuestion) async -> ApprovalAnswer
    ) {
        self.emit = emit
        self.notice = notice
        self.keepAlive = keepAlive
        self.ask = ask
    }
}

/// Whatever answers prompts.
package protocol Agent: Sendable {
    /// The models that it offers; the first is the default.
    var models: [CompanionModel] { get }

    /// Whether it may change files of a project. Default: true.
    var changesFiles: Bool { get }

    /// Turns that it answers at the same time, of all chats. Default: 8, for an agent that starts a program for each.
    var turnLimit: Int { get }

    /// Whether it can work now. A host whose agent cannot answers like one without a signed-in user.
    func isAvailable() -> Bool

    /// Why the last turn, or the process behind it, ended as nobody wanted; nil once it answers again. Default: nil.
    var trouble: AgentTrouble? { get }

    /// Does what goes on between turns, until the task is cancelled, and ends what it has started. Turns are answered
    /// only while this runs.
    func run() async

    /// Forgets its session of a chat, whose next turn begins a new one. Default: does nothing.
    func forget(chat: String)

    /// The message to a turn's readers about an agent that was silent for too long.
    ///
    /// - Parameter limit: How long that is.
    func silenceText(_ limit: Duration) -> String

    /// Answers a prompt. Returns when the answer is complete and everything that it started for it has ended; has to do
    /// so soon after its task was cancelled.
    ///
    /// - Throws: ``AgentError`` with a text for people; what was said before still counts.
    func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws
}

extension Agent {
    package var changesFiles: Bool { true }

    package var turnLimit: Int { 8 }

    package var trouble: AgentTrouble? { nil }

    package func run() async {}

    package func forget(chat: String) {}

    package func silenceText(_ limit: Duration) -> String {
        let (seconds, attoseconds) = limit.components
        return "Copilot response timed out after \(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }

    /// ``silenceText(_:)`` of agents that have a name.
    static func silenceText(_ limit: Duration, name: String) -> String {
        "\(name) did not respond for \(limit.components.seconds) s, so the turn was ended. "
            + "To allow more time: pairtool host --turn-timeout"
    }
}
