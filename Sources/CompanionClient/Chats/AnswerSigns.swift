import CompanionWire

/// Signs in the text of an answer that show whether the agent is done or asks something.
package struct AnswerSigns: Sendable, Hashable {
    /// The text that the agent is asked to write when it is done.
    package static let completionMark = "TASK COMPLETE"

    /// The end of the answer says that everything is done, and nothing there contradicts it.
    package let isComplete: Bool
    /// The answer ends with a question to the user.
    package let asks: Bool
    /// Whether the answer has nothing but white space.
    package let isEmpty: Bool

    package init(_ answer: String) {
        let lines = answer.split(whereSeparator: \.isNewline).map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
        isEmpty = lines.isEmpty
        // Only the end of an answer says what comes next.
        let end = lines.suffix(6)
        let text = end.joined(separator: "\n").lowercased()
        asks = Self.ends(withQuestion: lines) || Self.requests.contains { text.contains($0) }
        let closing = AnswerClosing(end)
        isComplete = closing.isMarked || (closing.saysDone && !asks)
    }

    private static let requests = [
        "would you like me", "do you want me", "shall i", "should i", "please confirm", "let me know which",
        "let me know if you want", "waiting for your",
    ]

    private static func ends(withQuestion lines: [String]) -> Bool {
        guard let last = lines.last else { return false }
        let text = last.reversed().drop { "*_`\"”)] ".contains($0) }
        return text.first == "?" || text.first == "？"
    }
}
