package import CompanionWire

/// One turn of a chat: sends a prompt, once, and gives what a terminal should show, a broken stream's rest included.
package struct ChatTurn: Sendable {
    package enum Output: Sendable, Hashable {
        /// The host runs the turn under this id, whether somebody reads on or not.
        case begun(turnID: String)
        /// A piece of the answer, to be appended to what came before.
        case text(String)
        /// What the host is doing.
        case status(String)
        case toolStart(toolName: String, toolCallID: String?)
        case toolComplete(toolName: String, toolCallID: String?, success: Bool, details: String?)
        case usage(ContinueChatUsage)
        /// The stream broke; the history is followed until the answer is there. The text is a notice for people.
        case recovering(String)
        /// The last output.
        case finished(ChatTurnSummary)
    }

    private let client: any ChatContinuing & ChatBrowsing & HealthProbing
    private let chatID: String
    private let request: ContinueChatRequest
    private let configuration: TurnRecovery.Configuration
    private let earlier: HistoryPosition
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - position: Where the chat's history went to when an earlier turn began
    ///     (``ChatTurnSummary/position``); it saves the walk through the whole chat.
    ///   - clock: Measures the waits of a recovery.
    package init(
        client: any ChatContinuing & ChatBrowsing & HealthProbing,
        chatID: String,
        request: ContinueChatRequest,
        position: HistoryPosition = .start,
        configuration: TurnRecovery.Configuration = TurnRecovery.Configuration(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.client = client
        self.chatID = chatID
        self.request = request
        self.earlier = position
        self.configuration = configuration
        self.clock = clock
    }

    /// Begins the turn when the first output is asked for.
    ///
    /// Throws ``CompanionClientError``: `hostError` when the turn failed on the host, `unreachable` when the prompt was
    /// not taken, `streamInterrupted` when the answer could not be had. Text that came before an error counts.
    /// Cancelling the task that reads ends the wait, not the turn on the host.
    package func run() -> ChatTurnOutputs {
        ChatTurnOutputs(turn: self)
    }
}

/// What a turn came to.
package struct ChatTurnSummary: Sendable, Hashable {
    /// The whole answer.
    package var answer: String
    package var usage: ContinueChatUsage?
    /// Whether the answer's end came from the history.
    package var wasRecovered: Bool
    /// Where the history went to when the turn began.
    package var position: HistoryPosition

    package init(answer: String, usage: ContinueChatUsage?, wasRecovered: Bool, position: HistoryPosition) {
        self.answer = answer
        self.usage = usage
        self.wasRecovered = wasRecovered
        self.position = position
    }
}

extension ChatTurn {
    /// - Parameter health: What the host said of itself when the turn began.
    func makeRecovery(_ health: CompanionHealthResponse? = nil) -> TurnRecovery {
        var configuration = configuration
        configuration.turnLimit = configuration.turnLimit ?? health?.turnLimit
        return TurnRecovery(prompt: request.prompt, configuration: configuration)
    }

    /// What the host says of itself; nil where it does not.
    func askHealth() async throws -> CompanionHealthResponse? {
        do {
            return try await client.health()
        } catch is CompanionClientError {
            return nil
        }
    }

    func findPosition() async throws -> HistoryPosition {
        try await client.historyPosition(chatID: chatID, from: earlier)
    }

    func openStream() -> any AsyncIteratorProtocol<ContinueChatEvent, any Error> {
        func open(_ client: some ChatContinuing) -> any AsyncIteratorProtocol<ContinueChatEvent, any Error> {
            client.continueChat(chatID: chatID, request).makeAsyncIterator()
        }
        return open(client)
    }

    func readHistory(after position: HistoryPosition) async throws -> [CompanionMessage] {
        try await client.messages(chatID: chatID, after: position)
    }

    func sleep(_ duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }

    /// Starts to measure time.
    func stopwatch() -> @Sendable () -> Duration {
        func start(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
            let begin = clock.now
            return { begin.duration(to: clock.now) }
        }
        return start(clock)
    }
}
