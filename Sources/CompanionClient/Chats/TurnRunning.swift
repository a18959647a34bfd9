package import CompanionWire
package import FoundationEssentials

/// A prompt and its options.
package struct TurnRequest: Sendable, Hashable {
    /// The user's text for the agent.
    package var prompt: String
    /// nil lets the host or the agent choose.
    package var model: String?
    /// The working directory as the host lists it (a project's `localPath`); nil if unknown.
    package var projectPath: String?
    /// The tools that the agent may use without asking. nil allows all, an empty list none.
    package var allowedTools: [String]?
    /// Whether questions about other tools are answered with no. Only for hosts whose questions end with the connection
    /// that sent the prompt: others leave it to ``ApprovalDeciding``.
    package var deniesQuestions: Bool
    /// The pictures of the prompt, for hosts with ``TurnRunning/takesImages`` only.
    package var images: [TurnImage]
    /// The prompt as blocks of the Agent Client Protocol, in JSON, for hosts with ``AgentOpening`` only. The answer is
    /// then told in the agent's own words, too (``TurnEvent/acp(_:)``).
    package var content: String?

    package init(
        prompt: String,
        model: String? = nil,
        projectPath: String? = nil,
        allowedTools: [String]? = nil,
        deniesQuestions: Bool = false,
        images: [TurnImage] = [],
        content: String? = nil
    ) {
        self.prompt = prompt
        self.model = model
        self.projectPath = projectPath
        self.allowedTools = allowedTools
        self.deniesQuestions = deniesQuestions
        self.images = images
        self.content = content
    }
}

/// A host that answers prompts.
package protocol TurnRunning: Sendable {
    /// Whether prompts can have pictures.
    var takesImages: Bool { get }
    /// Whether the answer stops when nobody reads it any more. Default: no, the host continues.
    var endsWithReader: Bool { get }
    /// Makes sure that the host has not given this device's place to another one. Default: it keeps no places.
    ///
    /// - Throws: ``CompanionClientError/Code/superseded``.
    func requireOwnPlace() async throws
    /// Waits until a turn has ended that nobody has followed to its end, for two at a time would mix their answers.
    /// Default: nothing is waited for.
    ///
    /// - Parameters:
    ///   - begun: When the turn began, by this machine's clock.
    ///   - waits: Whether to wait; else the host is asked once.
    ///   - say: Takes messages for the user during the wait.
    /// - Returns: false if the turn still runs.
    func waitForEarlierTurn(
        chatID: String,
        begun: Date,
        waits: Bool,
        say: @Sendable (String) -> Void
    ) async throws -> Bool
    /// Creates a chat for a first prompt.
    ///
    /// - Returns: The id that ``turn(chatID:_:)`` takes.
    func makeChat(projectID: String, title: String) async throws -> String
    /// Sends a prompt once, when the first event is read.
    ///
    /// The events end with ``TurnEvent/finished(_:)``, or the sequence throws ``CompanionClientError``.
    func turn(chatID: String, request: TurnRequest) -> TurnEvents
    /// Sends a prompt that waited in the outbox, once over all attempts. Where it becomes known that the host has it
    /// from an earlier attempt, the events say so and end. Default: it is marked before the turn begins.
    func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents
}

extension TurnRunning {
    package var endsWithReader: Bool { false }

    package func requireOwnPlace() async throws {}

    package func waitForEarlierTurn(
        chatID: String,
        begun: Date,
        waits: Bool,
        say: @Sendable (String) -> Void
    ) async throws -> Bool { true }

    package func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents {
        TurnEvents { emit in
            try journal.begin()
            for try await output in turn(chatID: chatID, request: request) { emit(output) }
        }
    }
}
