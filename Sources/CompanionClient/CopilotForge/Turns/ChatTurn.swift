package import CompanionWire
package import FoundationEssentials

/// One turn of a chat: sends a prompt once and returns the events to show. If the stream breaks, the rest of the
/// answer is read from the chat's history.
package struct ChatTurn: Sendable {
    private let client: CompanionAPIClient
    private let chatID: String
    private let request: ContinueChatRequest
    private let configuration: TurnRecovery.Configuration
    private let earlier: HistoryPosition
    private let clock: any Clock<Duration>
    private let willSend: @Sendable () throws -> Void
    private let answered: @Sendable () -> Void
    /// Called with the end of the chat's history before the turn, once it has ended well.
    let finished: @Sendable (HistoryPosition) -> Void

    /// - Parameters:
    ///   - position: The end of the chat's history at an earlier turn, from `finished`; it avoids reading the whole
    ///     chat.
    ///   - clock: Measures the pauses during a recovery.
    ///   - willSend: Called before the first byte of the prompt is sent. What it throws ends the turn. Default: does
    ///     nothing.
    ///   - answered: Called when the host begins to answer, which is when it has the prompt. Default: does nothing.
    ///   - finished: Called with the end of the chat's history before the turn, once the turn has ended well. Default:
    ///     does nothing.
    package init(
        client: CompanionAPIClient,
        chatID: String,
        request: ContinueChatRequest,
        position: HistoryPosition = .start,
        configuration: TurnRecovery.Configuration = TurnRecovery.Configuration(),
        clock: any Clock<Duration> = ContinuousClock(),
        willSend: @escaping @Sendable () throws -> Void = {},
        answered: @escaping @Sendable () -> Void = {},
        finished: @escaping @Sendable (HistoryPosition) -> Void = { _ in }
    ) {
        self.finished = finished
        self.willSend = willSend
        self.answered = answered
        self.client = client
        self.chatID = chatID
        self.request = request
        self.earlier = position
        self.configuration = configuration
        self.clock = clock
    }

    /// Begins the turn when the first event is read.
    ///
    /// Throws ``CompanionClientError``: `hostError` if the turn failed on the host, `unreachable` if the host did not
    /// receive the prompt, `streamInterrupted` if the rest of the answer could not be read. Text that came before an
    /// error is valid. Cancelling the reading task stops the wait, not the turn on the host.
    package func run() -> ChatTurnEvents {
        ChatTurnEvents(turn: self)
    }
}

extension ChatTurn {
    /// - Parameter health: The host's health answer from the beginning of the turn.
    func makeRecovery(_ health: CompanionHealthResponse? = nil) -> TurnRecovery {
        var configuration = configuration
        configuration.turnLimit = configuration.turnLimit ?? health?.turnLimit
        return TurnRecovery(prompt: request.prompt, configuration: configuration)
    }

    /// The host's health answer; nil if there is none.
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

    func openStream() throws -> any AsyncIteratorProtocol<TurnEvent, any Error> {
        try willSend()
        return ContinueChatStream(client: client, chatID: chatID, request: request, answered: answered)
            .makeAsyncIterator()
    }

    func readHistory(after position: HistoryPosition) async throws -> [CompanionMessage] {
        try await client.messages(chatID: chatID, after: position)
    }

    func sleep(_ duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }

    /// Returns a function that gives the time since this call.
    func stopwatch() -> @Sendable () -> Duration {
        func start(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
            let begin = clock.now
            return { begin.duration(to: clock.now) }
        }
        return start(clock)
    }
}

extension CompanionHealthResponse {
    /// How long a turn may take at this host, with a margin for network delay; nil if the host does not identify its
    /// service.
    ///
    /// Deployed Macs end every turn 120 s after it began (protocol v1, The stream). Other v1 hosts let an agent work as
    /// long as it shows signs of life.
    package var turnLimit: Duration? {
        service == "copilotforge-sidecar" ? .seconds(135) : nil
    }

    /// Whether another health answer comes from another process, so that the turns of this process are lost.
    func isOtherProcess(than other: CompanionHealthResponse) -> Bool {
        guard let began = processStartedAtMs, let otherBegan = other.processStartedAtMs else { return false }
        // Some hosts recompute the time for every answer, which makes it vary a little.
        return abs(otherBegan - began) > 1000
    }

    /// Whether the host's process began after a time on the host's clock; false if the host does not report when it
    /// began.
    package func began(after time: Date) -> Bool {
        processStartedAtMs.map { $0 / 1000 > time.timeIntervalSince1970 } ?? false
    }
}
