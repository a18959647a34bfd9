package import FoundationEssentials

/// How far a turn is.
package enum TurnState: String, Codable, Sendable, Hashable {
    /// Turns before it have to end first.
    case waiting
    case running
    /// The answer is complete.
    case finished
    /// Ended by an error: the agent's, a timeout, or the end of its device's access.
    case failed
    /// Ended because somebody asked for it.
    case cancelled
    /// Cut off by the end of the host.
    case interrupted

    /// Whether nothing follows.
    package var isFinal: Bool { self != .waiting && self != .running }
}

/// A turn as the protocol tells of it.
package struct TurnSummary: Codable, Sendable, Hashable {
    package var turnId: String
    package var chatId: String
    package var state: TurnState
    /// When it was taken.
    package var startedAt: Date
    package var endedAt: Date?
}
