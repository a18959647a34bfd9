import FoundationEssentials

/// What the agent has asked, and what was answered so far.
///
/// Servers run the agent once a prompt, so its turn may well be over while the question is open: the answer is the next
/// prompt then (aicli, "Seen with the real server").
struct AICLIOpenQuestion: Sendable, Hashable {
    struct Asked: Sendable, Hashable {
        var request: AICLIPermissionRequest
        /// The word that answers it; nil until there is one.
        var word: String?
    }

    /// As a rule one. Others that come before the reply are answered together with it.
    var asked: [Asked]
    /// Since when all are answered.
    var answeredAt: Duration?
    /// Whether the reply to the prompt has come.
    var isReplied = false
    /// When it was sent, by the server's clock.
    var repliedAt: Date?

    var isAnswered: Bool { asked.allSatisfy { $0.word != nil } }

    /// The one word that answers all: a denial, if there is one.
    var word: String? {
        asked.first { $0.word == $0.request.denying }?.word ?? asked.last?.word
    }
}

/// A question whose answer is out.
struct AICLIAnsweredQuestion: Sendable, Hashable {
    var prompts: [String]
    /// When the answer went out.
    var at: Duration
    /// Whatever the server sent until then belongs to this question. Nil: that is not known.
    var until: Date?
}
