package import CompanionWire

/// What a terminal should show of a turn.
package enum TurnOutput: Sendable, Hashable {
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
