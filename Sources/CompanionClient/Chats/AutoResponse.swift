/// Lets an agent go on by itself: says after each answer what to send next, or why to stop. Hosts know nothing of it,
/// so it works with every family. A value without clock or network.
package struct AutoResponse: Sendable {
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Until the agent says that it is done, asks something, or repeats itself.
        case smartStop = "smart-stop"
        /// Until it says that it is done. Questions are left to its own judgement.
        case untilCompletion = "until-completion"
        /// Until the time is over, however many messages that takes.
        case timed
        /// A number of messages, however long they take.
        case messageCount = "message-count"
        /// Until it is done, the time is over or the messages are sent, whichever comes first. One question is left to
        /// its own judgement; another one right behind it ends it.
        case hybrid
    }

    /// What a mode does not go beyond. Nil: the mode's own limit (``AutoResponse/Mode/mostMessages``,
    /// ``AutoResponse/Mode/mostTime``).
    package struct Limits: Sendable, Hashable {
        /// Automatic messages.
        package var messages: Int?
        /// From the first prompt on.
        package var time: Duration?

        package init(messages: Int? = nil, time: Duration? = nil) {
            self.messages = messages.map { max(0, $0) }
            self.time = time
        }
    }

    package enum Reason: Sendable, Hashable {
        case completed, question, repeated, empty, failed, stopped
        case messages(Int)
        case time(Duration)
    }

    package enum Step: Sendable, Hashable {
        case send(String)
        case stop(Reason)
    }

    package let mode: Mode
    package let limits: Limits
    /// How many automatic messages there were.
    package private(set) var sent = 0
    private var wantsStop = false
    private var lastAnswer: String?
    private var repeats = 0
    /// How many answers in a row have asked something.
    private var questions = 0

    package init(mode: Mode, limits: Limits = Limits()) {
        self.mode = mode
        self.limits = limits
    }

    /// The most automatic messages.
    package var mostMessages: Int { limits.messages ?? mode.mostMessages }
    /// The longest time from the first prompt on.
    package var mostTime: Duration { limits.time ?? mode.mostTime }

    /// What is sent to have the agent go on: it gets a word to say when it is done.
    package static let prompt =
        "Go on. When everything is done, write \(AnswerSigns.completionMark) on a line of its own."
    /// The same, where it has asked something.
    package static let judgement = "Decide that yourself, as you think best. \(prompt)"

    /// The user has had enough: the next answer is the last.
    package mutating func stop() {
        wantsStop = true
    }

    /// A new prompt of the user begins a new row.
    package mutating func begin() {
        self = AutoResponse(mode: mode, limits: limits)
    }

    /// - Parameter elapsed: Since the row began.
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
        // Nobody is served by an agent that has nothing to say, or says the same again.
        if signs.isEmpty { return .empty }
        if repeats >= (mode.endsByAnswer ? 1 : 2) { return .repeated }
        if elapsed >= mostTime { return .time(mostTime) }
        if sent >= mostMessages { return .messages(mostMessages) }
        return nil
    }
}

extension AutoResponse.Mode {
    /// The most automatic messages: 10; 100 where the time is what counts.
    package var mostMessages: Int { self == .timed ? 100 : 10 }

    /// The longest time: 30 min; a day where the number of messages is what counts.
    package var mostTime: Duration { .seconds(self == .messageCount ? 1440 * 60 : 30 * 60) }

    /// Whether it is over when the agent says so.
    fileprivate var endsByAnswer: Bool { self != .timed && self != .messageCount }

    /// How many questions in a row are left to the agent. Nil: all.
    fileprivate var mostQuestions: Int? {
        switch self {
        case .smartStop: 0
        case .hybrid: 1
        case .untilCompletion, .timed, .messageCount: nil
        }
    }
}

extension AutoResponse.Reason: CustomStringConvertible {
    /// For people.
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
