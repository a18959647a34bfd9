import CompanionWire

/// Finds what a chat lacks of the session that it goes on in.
enum ToldMessages {
    /// Prompts that are compared around one that may be the last common one.
    private static let context = 8

    /// Returns the messages that came after all that the chat has.
    ///
    /// - Parameters:
    ///   - told: All messages of the session, as its agent tells them.
    ///   - prompts: The last prompts of the chat, the oldest first; empty for a chat without any.
    /// - Returns: None if no prompt of the chat is in the session: its agent may have shortened it.
    static func missing(of told: [ToldMessage], after prompts: [String]) -> ArraySlice<ToldMessage> {
        guard !prompts.isEmpty else { return told[...] }
        let places = told.indices.filter { told[$0].role == .user }
        let there = places.map { told[$0].text }
        let here = prompts.map { $0.trimmingWhitespace() }
        // From the end: a prompt may have failed before it reached the agent.
        for last in here.indices.reversed() {
            let equal = there.indices.filter { there[$0].isSame(as: here[last]) }
            // People say “go on” often: the one with the most equal prompts before it.
            guard let best = equal.max(by: { score($0, there, last, here) < score($1, there, last, here) }) else {
                continue
            }
            guard best + 1 < places.count else { return [] }
            return told[places[best + 1]...]
        }
        return []
    }

    /// How many prompts in a row are equal, up to one of each list.
    private static func score(_ there: Int, _ told: [String], _ here: Int, _ prompts: [String]) -> Int {
        var count = 0
        while count < context, count <= there, count <= here, told[there - count].isSame(as: prompts[here - count]) {
            count += 1
        }
        return count
    }
}
