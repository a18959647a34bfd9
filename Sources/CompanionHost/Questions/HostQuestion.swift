package import FoundationEssentials

/// A question of the agent, as the host keeps it.
package struct HostQuestion: Codable, Sendable, Hashable, Identifiable {
    package enum State: String, Codable, Sendable, Hashable {
        case open, approved, rejected
        /// Nobody answered in time: the answer was no.
        case expired
        /// Its turn ended.
        case cancelled
        /// The host ended, and with it the agent that asked.
        case interrupted
    }

    package var id: String
    package var chatId: String
    package var turnId: String
    /// What the agent wants to do.
    package var title: String
    /// What sort of tool it wants to use, such as `edit` or `execute`; empty for none.
    package var kind: String
    /// What it would do, in full: a command, a difference, or JSON. nil in lists.
    package var arguments: String?
    package var options: [AgentOption]
    package var askedAt: Date
    package var expiresAt: Date
    package var state: State
    /// The id of the option that was chosen.
    package var option: String?
    /// Who answered, for people; nil where nobody did.
    package var decidedBy: String?
    package var decidedAt: Date?
}
