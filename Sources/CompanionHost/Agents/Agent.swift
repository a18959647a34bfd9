package import CompanionWire

/// A prompt for an agent, with the place where it works.
package struct AgentTurn: Sendable {
    /// The turn's id; empty where none is known.
    package var id: String = ""
    /// The id of the chat that the turn belongs to.
    package var chatID: String
    /// The text that the agent answers.
    package var prompt: String
    /// The directory that it works in: absolute, symbolic links resolved, inside a listed project.
    package var directory: String
    /// The path of the listed project, which stays when a working tree is removed; nil where none is known.
    package var project: String?
    /// Names of the tools that it may use; nil allows all. They do not limit an agent that asks before it uses a tool:
    /// the answer to its question does.
    package var allowedTools: Set<String>?
    /// Pictures that go with the prompt; for agents that take them.
    package var images: [TurnImage] = []
    /// The prompt in blocks of the Agent Client Protocol, for an agent that speaks it; its answer is then told in the
    /// agent's own words too. nil for a prompt that is ``prompt`` alone.
    package var content: [JSONValue]?
    /// The id of one of the agent's models; empty for the first.
    package var model: String = ""
    /// How freely the agent works: the mode that it reported last for this turn; nil if it has reported none.
    package var mode: AgentMode?
}

/// A question of an agent: whether it may use a tool.
package struct ProposedTool: Sendable, Hashable {
    /// The tool call that the question is about.
    package var call: ToolReport
    /// All that the tool would do: a command, a difference, or arguments as JSON.
    package var arguments: String
    /// The command that it would run, as it would be typed; nil for none.
    package var command: String?
    /// The directories in which it would run the command, in the agent's words; empty if it names none.
    package var directories: [String] = []
    /// Whether its arguments have members that may change what the command does, such as variables.
    package var hasUnknownArguments = false
    /// The request in the agent's own words, as JSON text, where the turn's readers want these.
    package var acp: String?
    /// The answers as the agent gave them.
    package var options: [ApprovalOption]

    /// The answer that refuses: the agent's option for that, else a cancellation.
    package var rejection: ApprovalAnswer {
        let option = try? ApprovalAnswer.reject(always: false, reason: nil).option(of: options, mayAlways: true)
        return option.map { ApprovalAnswer.option($0.id) } ?? .cancelled
    }
}

/// How much a change of an agent's settings lets it do.
package enum SettingLeave: Sendable {
    /// No more than before: a model, or the depth of thought.
    case nothing
    /// A mode in which it asks before it changes something.
    case asking
    /// A mode in which it goes on without questions, as far as is known.
    case lasting
}

/// An agent could not answer.
package struct AgentError: Error, Sendable, CustomStringConvertible {
    /// A message for the person who sent the prompt. It has no secrets, and no paths outside of the project.
    package var message: String
    /// Why the agent answers nobody until its owner acts at the host (``CompanionErrorCode/isOfAgent``); nil for all else.
    package var code: CompanionErrorCode?
    package var description: String { message }
}

/// How an agent and a turn's reader speak to each other.
package struct AgentConversation: Sendable {
    /// Passes on an event. The host itself says how a turn has ended.
    package let emit: @Sendable (TurnEvent) -> Void
    /// Adds a paragraph of the host's own to the answer: something that people have to know about the conversation.
    package let notice: @Sendable (String) -> Void
    /// Tells the host that the agent still works, so that it does not count as silent.
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

/// A program or model that answers prompts.
package protocol Agent: Sendable {
    /// The models that it offers; the first is the default.
    var models: [CompanionModel] { get }

    /// Whether it may change files of a project. Default: true.
    var changesFiles: Bool { get }

    /// Turns that it answers at the same time, of all chats. Default: 8, for an agent that starts a program for each.
    var turnLimit: Int { get }

    /// Whether it can work now. A host whose agent cannot answers like one without a signed-in user.
    func isAvailable() -> Bool

    /// Why the last turn, or the agent's process, ended unexpectedly; nil once the agent answers again. Default: nil.
    var trouble: AgentTrouble? { get }

    /// Does the work between turns until the task is cancelled, then ends all that it has started. Turns are answered
    /// only while this runs.
    func run() async

    /// The state of each agent, for the owner. Default: this one.
    var states: [AdminAgent] { get }

    /// The box that its processes run in. Default: nil, none.
    var sandbox: AdminSandbox? { get }

    /// The agent that answers with a model. Default: this one.
    func member(answering model: String) -> any Agent

    /// The agents that tell which sessions they keep. Default: none.
    var sessionSources: [any AgentSessionSource] { get }

    /// Opens the session of a turn's chat ahead of its prompt.
    ///
    /// - Returns: What the agent says of itself and of the session, as members of the Agent Client Protocol; nil for
    ///   agents that do not speak it. Default: nil.
    /// - Throws: As ``answer(_:conversation:)``.
    func open(_ turn: AgentTurn) async throws -> JSONValue?

    /// The same of a session that is open; nil if it is not. Default: nil.
    func facts(ofChat chat: String) -> JSONValue?

    /// How much a change of a session's settings lets the agent do. Default: what is not known.
    func leave(of setting: JSONValue, ofChat chat: String) -> SettingLeave

    /// Changes the settings of a chat's session. Default: throws.
    ///
    /// - Parameter method: `session/set_mode` or `session/set_config_option`.
    /// - Returns: The agent's answer.
    /// - Throws: As ``answer(_:conversation:)``.
    func configure(chat: String, method: String, parameters: JSONValue) async throws -> JSONValue

    /// Forgets its session of a chat, whose next turn begins a new one. Default: does nothing.
    func forget(chat: String)

    /// The message to a turn's readers about an agent that was silent for too long.
    ///
    /// - Parameter limit: How long that is.
    func silenceText(_ limit: Duration) -> String

    /// Answers a prompt. Returns when the answer is complete and everything that it started for it has ended; has to do
    /// so soon after its task was cancelled.
    ///
    /// - Throws: ``AgentError`` with a text for people; the answer so far still counts.
    func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws
}

extension Agent {
    package var changesFiles: Bool { true }

    package var turnLimit: Int { 8 }

    package var trouble: AgentTrouble? { nil }

    package var sandbox: AdminSandbox? { nil }

    package var states: [AdminAgent] {
        models.prefix(1).map {
            AdminAgent(
                id: $0.owner,
                name: $0.name,
                isAvailable: isAvailable(),
                trouble: trouble,
                sandbox: sandbox
            )
        }
    }

    package func member(answering model: String) -> any Agent { self }

    package func run() async {}

    package var sessionSources: [any AgentSessionSource] { [] }

    package func open(_ turn: AgentTurn) async throws -> JSONValue? { nil }

    package func facts(ofChat chat: String) -> JSONValue? { nil }

    package func leave(of setting: JSONValue, ofChat chat: String) -> SettingLeave { .lasting }

    package func configure(chat: String, method: String, parameters: JSONValue) async throws -> JSONValue {
        throw AgentError(message: "This agent has no settings")
    }

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
