package import FoundationEssentials

/// A prompt that could not be sent yet.
package struct AICLIWaitingPrompt: Codable, Sendable, Hashable, Identifiable {
    package enum State: String, Codable, Sendable {
        case waiting
        /// Its sending began and did not end: it may have reached the host, so it is not sent again by itself.
        case uncertain
        /// The host would not begin with it.
        case refused
    }

    /// 8 hex digits.
    package var id: String
    package var workingDirectory: String
    package var prompt: String
    /// Nil: all.
    package var allowedTools: [String]?
    package var writtenAt: Date
    package var state: State
}

/// The prompts for one server that were written while it was out of reach: oldest first, each sent once.
package struct AICLIOutbox: Codable, Sendable, Hashable {
    package static let mostPrompts = 200

    package var version = 1
    package private(set) var prompts: [AICLIWaitingPrompt] = []

    package init() {}

    /// The next one to send. One whose fate is unknown does not hold up the others.
    package var next: AICLIWaitingPrompt? { prompts.first { $0.state == .waiting } }

    /// - Returns: The entry; nil where the queue is full.
    package mutating func add(
        _ prompt: String,
        in workingDirectory: String,
        allowedTools: [String]?,
        at now: Date
    ) -> AICLIWaitingPrompt? {
        guard prompts.count < Self.mostPrompts else { return nil }
        let id = UUID().uuidString.lowercased().prefix(8)
        let entry = AICLIWaitingPrompt(
            id: String(id),
            workingDirectory: workingDirectory,
            prompt: prompt,
            allowedTools: allowedTools,
            writtenAt: now,
            state: .waiting
        )
        prompts.append(entry)
        return entry
    }

    /// Marks the prompt as on its way. To be written down before its first byte leaves: whatever happens then, it does
    /// not go out twice.
    ///
    /// - Returns: Whether it was still there to be sent.
    package mutating func begin(_ id: String) -> Bool {
        guard let index = prompts.firstIndex(where: { $0.id == id && $0.state == .waiting }) else { return false }
        prompts[index].state = .uncertain
        return true
    }

    /// The host would not begin with it: those behind it are not held up.
    package mutating func refuse(_ id: String) {
        guard let index = prompts.firstIndex(where: { $0.id == id }) else { return }
        prompts[index].state = .refused
    }

    /// The host has had it, or it is thrown away.
    package mutating func finish(_ id: String) {
        prompts.removeAll { $0.id == id }
    }

    /// The user wants it to go out whatever happened before.
    package mutating func putBack(_ id: String) {
        guard let index = prompts.firstIndex(where: { $0.id == id }) else { return }
        prompts[index].state = .waiting
    }
}
