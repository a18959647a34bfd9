import FoundationEssentials

/// The open questions of the agent, and the answers so far.
///
/// Servers run the agent once per prompt, so the turn may have ended while the question is open. The answer is then
/// sent as the next prompt (aicli, "Seen with the real server").
struct AICLIOpenQuestion: Sendable, Hashable {
    struct Asked: Sendable, Hashable {
        var request: AICLIPermissionRequest
        /// The answer; nil until there is one.
        var word: String?
    }

    /// Usually one. Further questions before the reply are answered together with it.
    var asked: [Asked]
    /// When the last one was answered.
    var answeredAt: Duration?
    /// Whether the reply to the prompt has arrived.
    var isReplied = false
    /// When the reply was sent, by the server's clock.
    var repliedAt: Date?

    var isAnswered: Bool { asked.allSatisfy { $0.word != nil } }

    /// One word that answers all questions: a denial if there is one.
    var word: String? {
        asked.first { $0.word == $0.request.denying }?.word ?? asked.last?.word
    }
}

/// A question whose answer was sent.
struct AICLIAnsweredQuestion: Sendable, Hashable {
    var prompts: [String]
    /// When the answer was sent.
    var at: Duration
    /// Frames that the server sent up to this time belong to this question; nil if the time is unknown.
    var until: Date?
}
