package import CompanionWire

/// One turn as a state machine: takes the events of the stream and the history, and returns what to show and what to do
/// next.
///
/// If the stream breaks, the turn continues at the host, which stores the answer. So the rest is read from the history,
/// and the prompt is never sent again (protocol v1, "continue").
package struct TurnRecovery: Sendable {
    /// The time limits and waits.
    package struct Configuration: Sendable, Hashable {
        /// How long the host may not answer, or its history may not contain the prompt. Default: 150 s (hosts end a
        /// silent turn after 120 s). Counts from the break, and starts again each time the history has the prompt but
        /// no answer yet.
        package var limit: Duration
        /// How long to wait for an answer in total while the host has the prompt and keeps working. Default: 30 min.
        package var longestTurn: Duration
        /// The time after which the host itself ends a turn, counted from the turn's beginning; the wait ends then too.
        /// Default: nil, unknown.
        package var turnLimit: Duration?
        /// The wait before the first request; it doubles with each request. Default: 250 ms.
        package var firstWait: Duration
        /// The longest wait between two requests. Default: 5 s.
        package var longestWait: Duration
        /// How many reads of the history without the prompt it takes to conclude that the host did not receive it, if
        /// the host did not begin to answer. Default: 3.
        package var readsUntilNotTaken: Int

        init(
            limit: Duration = .seconds(150),
            longestTurn: Duration = .seconds(30 * 60),
            turnLimit: Duration? = nil,
            firstWait: Duration = .milliseconds(250),
            longestWait: Duration = .seconds(5),
            readsUntilNotTaken: Int = 3
        ) {
            self.limit = limit
            self.longestTurn = longestTurn
            self.turnLimit = turnLimit
            self.firstWait = firstWait
            self.longestWait = longestWait
            self.readsUntilNotTaken = readsUntilNotTaken
        }
    }

    /// An event of the stream, or the result of reading the history.
    package enum Input: Sendable {
        case event(TurnEvent)
        /// The stream ended normally.
        case ended
        /// `age`: the time since the turn began.
        case failed(CompanionClientError, age: Duration = .zero)
        /// The messages after the position at which the turn began, and the time since the break. `hasRestarted`:
        /// whether the host's process has changed since the turn began.
        case history([CompanionMessage], elapsed: Duration, hasRestarted: Bool = false)
        case historyFailed(CompanionClientError, elapsed: Duration, hasRestarted: Bool = false)
    }

    /// The next step of the caller.
    package enum Step: Sendable {
        /// Continue to read the stream.
        case read
        /// Wait, then read the history.
        case poll(after: Duration)
        case finish(recovered: Bool)
        case fail(CompanionClientError)
    }

    private let prompt: String
    private let configuration: Configuration
    private var failure: TurnFailure?
    private var cause: CompanionClientError?
    private var wait: Duration
    private var readsWithoutPrompt = 0
    private var wasTaken = false
    /// When the history last had the prompt without an answer, counted from the break.
    private var lastSign = Duration.zero
    /// When the host ends the turn, counted from the break.
    private var turnEnd: Duration?

    /// The part of the answer that was shown.
    package private(set) var answer = ""

    init(prompt: String, configuration: Configuration = Configuration()) {
        self.prompt = prompt
        self.configuration = configuration
        self.wait = configuration.firstWait
    }

    /// Handles an event.
    ///
    /// - Returns: The events to show now, and the next step.
    package mutating func handle(_ input: Input) -> (outputs: [TurnEvent], next: Step) {
        switch input {
        case .event(let event): (show(event), .read)
        case .ended: ([], end())
        case .failed(let error, let age): fail(error, age: age)
        case .history(let messages, let elapsed, let hasRestarted):
            follow(messages, elapsed: elapsed, hasRestarted: hasRestarted)
        case .historyFailed(let error, _, true) where error.delivery == .answered:
            ([], .fail(lost(in: "it does not show the chat now")))
        case .historyFailed(let error, let elapsed, _): ([], pollAgain(after: error, elapsed: elapsed))
        }
    }

    mutating func extendAnswer(by text: String) { answer += text }

    mutating func replaceAnswer(with text: String) { answer = text }

    private mutating func show(_ event: TurnEvent) -> [TurnEvent] {
        switch event {
        case .text(let text):
            answer += text
            return text.isEmpty ? [] : [.text(text)]
        case .status, .toolStart, .toolComplete, .usage: return [event]
        case .done: return event.changedFiles == nil ? [] : [event]
        case .failed(let new):
            failure = failure ?? new
            return new.files == nil ? [] : [event]
        // Hosts of protocol v1 ask no questions and tell nothing else.
        default: return []
        }
    }

    private func end() -> Step {
        guard let failure else { return .finish(recovered: false) }
        return .fail(.turnFailed(failure))
    }

    private mutating func fail(_ error: CompanionClientError, age: Duration) -> ([TurnEvent], Step) {
        if failure != nil { return ([], end()) }
        let isBreak = [.streamInterrupted, .timedOut, .unreachable].contains(error.code)
        guard isBreak, error.delivery != .notSent else { return ([], .fail(error)) }
        cause = error
        wasTaken = error.delivery == .answered
        turnEnd = configuration.turnLimit.map { $0 - age }
        return ([.recovering(error.message)], .poll(after: nextWait()))
    }

    private mutating func follow(
        _ messages: [CompanionMessage],
        elapsed: Duration,
        hasRestarted: Bool
    ) -> ([TurnEvent], Step) {
        guard let own = messages.firstIndex(where: isOwn) else {
            // After a restart, the host may have lost what its history does not contain.
            if hasRestarted { return ([], .fail(lost(in: "the chat does not have the answer"))) }
            readsWithoutPrompt += 1
            guard wasTaken || readsWithoutPrompt < configuration.readsUntilNotTaken else {
                return ([], .fail(notTaken()))
            }
            return ([], pollAgain(after: nil, elapsed: elapsed))
        }
        wasTaken = true
        lastSign = elapsed
        let turn = messages[(own + 1)...].prefix { $0.role != .user }
        guard let stored = turn.first(where: { $0.role == .assistant && !$0.text.isEmpty }) else {
            if hasRestarted { return ([], .fail(lost(in: "the chat does not have the answer"))) }
            return ([], pollAgain(after: nil, elapsed: elapsed))
        }
        let outputs = complete(with: stored.text)
        guard stored.interrupted != true else { return (outputs, .fail(cutOff())) }
        return (outputs, .finish(recovered: true))
    }

    /// Hosts may trim white space from a prompt when they store it.
    private func isOwn(_ message: CompanionMessage) -> Bool {
        message.role == .user && message.text.trimmingWhitespace().isSame(as: prompt.trimmingWhitespace())
    }

    private mutating func pollAgain(after error: CompanionClientError?, elapsed: Duration) -> Step {
        // If the pairing is gone, further requests cannot help. Other errors can be temporary, even a host that is
        // signed out.
        if let error, [.notPaired, .forbidden].contains(error.code) { return .fail(error) }
        let end = min(lastSign + configuration.limit, configuration.longestTurn, turnEnd ?? configuration.longestTurn)
        guard elapsed < end else { return .fail(gaveUp(after: error, elapsed: elapsed)) }
        return .poll(after: min(nextWait(), end - elapsed))
    }

    private mutating func nextWait() -> Duration {
        defer { wait = min(wait * 2, configuration.longestWait) }
        return wait
    }

    /// The host itself says that it does not have the whole answer.
    private func cutOff() -> CompanionClientError {
        CompanionClientError(
            .streamInterrupted,
            message:
                "The host ended in the middle of the answer. The first part is shown; the prompt was not sent again.",
            underlying: cause
        )
    }

    private func notTaken() -> CompanionClientError {
        var error = CompanionClientError(
            .unreachable,
            message: "The connection failed, and the chat does not have the prompt. It was not sent again.",
            delivery: .notSent,
            underlying: cause
        )
        error.mayStillArrive = true
        return error
    }

    private func gaveUp(after error: CompanionClientError?, elapsed: Duration) -> CompanionClientError {
        let message: String =
            if !wasTaken {
                "The connection broke before the host answered, and the chat cannot be read. The prompt may have "
                    + "run; it was not sent again."
            } else if error != nil {
                "The connection broke, and the chat cannot be read. The prompt was not sent again."
            } else if let turnEnd, elapsed >= turnEnd {
                "The answer broke off, and the host ends every turn after two minutes: the chat does not have the answer. "
                    + "The prompt was not sent again."
            } else {
                "The answer broke off, and \(elapsed.forPeople) later the chat did not have all of it. "
                    + "The prompt was not sent again."
            }
        return CompanionClientError(
            .streamInterrupted,
            message: message,
            delivery: wasTaken ? .answered : .unknown,
            underlying: error ?? cause
        )
    }

    /// A turn ends when its process ends.
    private func lost(in chat: String) -> CompanionClientError {
        CompanionClientError(
            .streamInterrupted,
            message:
                "The host was restarted during this turn, and \(chat): the answer is lost. The prompt may have run in part; "
                + "it was not sent again.",
            delivery: wasTaken ? .answered : .unknown,
            underlying: cause
        )
    }
}

extension CompanionClientError {
    /// A turn that the host has ended with an error.
    static func turnFailed(_ failure: TurnFailure) -> CompanionClientError {
        var error = CompanionClientError(.hostError, message: "The turn failed on the host.", hostText: failure.text)
        error.hostCode = failure.code
        return error
    }
}
