package import CompanionWire

/// An output of a turn, to be shown to the user.
package enum TurnOutput: Sendable, Hashable {
    /// The host runs the turn under this id, whether or not anyone keeps reading.
    case begun(turnID: String)
    /// A piece of the answer, to be appended to the previous pieces.
    case text(String)
    /// What the host is doing.
    case status(String)
    case toolStart(toolName: String, toolCallID: String?)
    case toolComplete(toolName: String, toolCallID: String?, success: Bool, details: String?)
    case usage(ContinueChatUsage)
    /// How many files the agent has changed in the turn, from hosts that count them.
    case changed(files: Int)
    /// How freely the agent works from now on.
    case mode(AgentMode)
    /// The agent waits for an answer, has got one, or went on.
    case question(QuestionNotice)
    /// What the agent reports about its work.
    case activity(AgentActivity)
    /// The stream broke; the history is read until it has the answer. The text is a notice for the user.
    case recovering(String)
    /// The last output.
    case finished(ChatTurnSummary)
}

/// The result of a turn.
package struct ChatTurnSummary: Sendable, Hashable {
    /// The whole answer.
    package var answer: String
    package var usage: ContinueChatUsage?
    /// Whether the end of the answer was read from the history.
    package var wasRecovered: Bool
    /// The end of the chat's history when the turn began.
    package var position: HistoryPosition

    package init(answer: String, usage: ContinueChatUsage?, wasRecovered: Bool, position: HistoryPosition) {
        self.answer = answer
        self.usage = usage
        self.wasRecovered = wasRecovered
        self.position = position
    }
}
