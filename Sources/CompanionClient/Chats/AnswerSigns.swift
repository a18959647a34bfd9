import CompanionWire

/// What an answer says of how to go on.
package struct AnswerSigns: Sendable, Hashable {
    /// What the agent is asked to write when it is done.
    package static let completionMark = "TASK COMPLETE"

    /// The agent says at the end of the answer that all is done, and nothing there says otherwise.
    package let isComplete: Bool
    /// It ends with a question to the user.
    package let asks: Bool
    package let isEmpty: Bool

    package init(_ answer: String) {
        let lines = answer.split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty }
        isEmpty = lines.isEmpty
        // How an answer ends says what comes next; what it tells of before does not.
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
