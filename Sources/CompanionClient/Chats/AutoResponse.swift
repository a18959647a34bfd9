import CompanionWire

/// Auto mode: decides after each answer which prompt to send next, or why to stop. Hosts are not involved, so it works
/// with every family. A value type without clock or network.
package struct AutoResponse: Sendable {
    /// The rule that ends auto mode.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Until the agent says that it is done, asks a question, or repeats itself.
        case smartStop = "smart-stop"
        /// Until the agent says that it is done. It decides its questions itself.
        case untilCompletion = "until-completion"
        /// Until the time limit, however many messages that takes.
        case timed
        /// Until the message limit, however long that takes.
        case messageCount = "message-count"
        /// Until the agent is done, or until the time or message limit, whichever comes first. The agent decides a
        /// single question itself; a second question in a row stops the mode.
        case hybrid
    }

    /// The limits of a mode. nil uses the mode's own limit (``AutoResponse/Mode/mostMessages``,
    /// ``AutoResponse/Mode/mostTime``).
    package struct Limits: Sendable, Hashable {
        /// Automatic messages.
        package var messages: Int?
        /// Counts from the first prompt.
        package var time: Duration?

        package init(messages: Int? = nil, time: Duration? = nil) {
            self.messages = messages.map { max(0, $0) }
            self.time = time
        }
    }

    /// The reason why auto mode stops.
    package enum Reason: Sendable, Hashable {
        case completed, question, repeated, empty, failed, stopped
        case messages(Int)
        case time(Duration)
    }

    /// The next step after an answer: send this prompt, or stop.
    package enum Step: Sendable, Hashable {
        case send(String)
        case stop(Reason)
    }

    /// The rule by which it goes on or stops.
    package let mode: Mode
    /// The most prompts and time that it may spend.
    package let limits: Limits
    /// The number of automatic messages so far.
    package private(set) var sent = 0
    private var wantsStop = false
    private var lastAnswer: String?
    private var repeats = 0
    /// The number of answers in a row that asked a question.
    private var questions = 0

    package init(mode: Mode, limits: Limits = Limits()) {
        self.mode = mode
        self.limits = limits
    }

    /// The limit of automatic messages.
    package var mostMessages: Int { limits.messages ?? mode.mostMessages }
    /// The time limit, counted from the first prompt.
    package var mostTime: Duration { limits.time ?? mode.mostTime }

    /// The prompt that tells the agent to continue, and what to write when it is done.
    package static let prompt =
        "Go on. When everything is done, write \(AnswerSigns.completionMark) on a line of its own."
    /// The same prompt after the agent asked a question.
    package static let judgement = "Decide that yourself, as you think best. \(prompt)"

    /// Stops the mode after the running answer.
    package mutating func stop() {
        wantsStop = true
    }

    /// Starts over after a new prompt of the user.
    package mutating func begin() {
        self = AutoResponse(mode: mode, limits: limits)
    }

    /// - Parameter elapsed: The time since the user's prompt.
    package mutating func answered(_ answer: String, elapsed: Duration) -> Step {
        let signs = AnswerSigns(answer)
        repeats = answer == lastAnswer ? repeats + 1 : 0
        lastAnswer = answer
        questions = signs.asks ? questions + 1 : 0
        if let reason = reason(for: signs, elapsed: elapsed) { return .stop(reason) }
        sent += 1
        return .send(signs.asks ? Self.judgement : Self.prompt)
    }

    private func reason(for signs: AnswerSigns, elapsed: Duration) -> Reason? {
        if wantsStop { return .stopped }
        if mode.endsByAnswer, signs.isComplete { return .completed }
        if let most = mode.mostQuestions, questions > most { return .question }
        // An agent that answers nothing, or the same again, makes no progress.
        if signs.isEmpty { return .empty }
        if repeats >= (mode.endsByAnswer ? 1 : 2) { return .repeated }
        if elapsed >= mostTime { return .time(mostTime) }
        if sent >= mostMessages { return .messages(mostMessages) }
        return nil
    }
}

extension AutoResponse.Mode {
    /// The limit of automatic messages: 10, or 100 for `timed`.
    package var mostMessages: Int { self == .timed ? 100 : 10 }

    /// The time limit: 30 min, or 24 h for `messageCount`.
    package var mostTime: Duration { .seconds(self == .messageCount ? 1440 * 60 : 30 * 60) }

    /// Whether the mode ends when the agent says that it is done.
    fileprivate var endsByAnswer: Bool { self != .timed && self != .messageCount }

    /// How many questions in a row the agent decides itself; nil for all.
    fileprivate var mostQuestions: Int? {
        switch self {
        case .smartStop: 0
        case .hybrid: 1
        case .untilCompletion, .timed, .messageCount: nil
        }
    }
}

extension AutoResponse.Reason: CustomStringConvertible {
    /// Text for the user.
    package var description: String {
        switch self {
        case .completed: "the agent says that it is done"
        case .question: "the agent asks something"
        case .repeated: "the agent repeats itself"
        case .empty: "the agent has nothing to say"
        case .failed: "the turn failed"
        case .stopped: "you stopped it"
        case .messages(let count):
            "\(count) automatic \(count == 1 ? "message was" : "messages were") sent, which is the limit"
        case .time(let time): "the time is over (\(time.roughly))"
        }
    }
}
