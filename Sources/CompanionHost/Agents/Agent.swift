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

/// What an agent says.
package enum AgentEvent: Sendable, Hashable {
    /// What it is doing, for people.
    case status(String)
    /// A piece of the answer.
    case text(String)
    /// Something that people have to know of the conversation itself. It becomes a paragraph of the answer.
    case notice(String)
    /// A picture or a sound of the answer. A text marks its place.
    case media(AgentMedia)
    /// A piece of what it thinks before it answers.
    case thought(String)
    /// What it is going to do, in place of an earlier plan.
    case plan([AgentPlanStep])
    /// A tool at work, or what has become of it.
    case tool(AgentToolCall)
    /// How freely it works from now on, in the agent's words.
    case mode(String)
    case usage(TurnUsage)
    /// A question of its own was asked or decided. The host says so, not the agent.
    case question(HostQuestion)
    /// It works, and says nothing.
    case signOfLife
}

extension AgentEvent {
    /// A tool of a name begins.
    static func toolStart(name: String, id: String) -> AgentEvent {
        .tool(AgentToolCall(id: id, title: name, status: .inProgress))
    }

    /// It has ended.
    static func toolComplete(name: String, id: String, success: Bool, details: String?) -> AgentEvent {
        .tool(AgentToolCall(id: id, title: name, status: success ? .completed : .failed, output: details))
    }
}

/// A call of a tool, as far as it is.
package struct AgentToolCall: Sendable, Hashable {
    package typealias Status = ToolReport.Status

    package var id: String
    /// What it does, for people.
    package var title: String
    /// What sort of tool it is, such as `read`, `edit` or `execute`; empty for none.
    package var kind = ""
    package var status = Status.pending
    package var locations: [AgentLocation] = []
    package var diffs: [AgentDiff] = []
    /// What it gave, for people.
    package var output: String?
    /// Whether the agent has asked before it used it; nil for an agent that asks nothing.
    package var wasAsked: Bool?
}

/// What an agent is asked before it can go on. Nothing is allowed by itself.
package struct AgentQuestion: Sendable, Hashable {
    package var call: AgentToolCall
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
    package var rejection: AgentDecision {
        (options.first { $0.kind == .rejectOnce } ?? options.first { $0.kind == .rejectAlways })
            .map { .option($0.id) } ?? .cancelled
    }
}

/// The answer to a question.
package enum AgentDecision: Sendable, Hashable {
    /// The id of an option.
    case option(String)
    /// None of them: the turn ends.
    case cancelled
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
    package let emit: @Sendable (AgentEvent) -> Void
    /// Asks the person, and waits. Returns `cancelled` soon after its task was cancelled.
    package let ask: @Sendable (AgentQuestion) async -> AgentDecision

    package init(
        emit: @escaping @Sendable (AgentEvent) -> Void,
        ask: @escaping @Sendable (AgentQuestion) async -> AgentDecision
    ) {
        self.emit = emit
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
