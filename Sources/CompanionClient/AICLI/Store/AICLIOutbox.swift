package import FoundationEssentials

/// A prompt that has not been sent yet.
package struct AICLIWaitingPrompt: Codable, Sendable, Hashable, Identifiable {
    package enum State: String, Codable, Sendable {
        case waiting
        /// Sending began but did not complete. The host may have received it, so it is not sent again automatically.
        case uncertain
        /// The host refused to begin it.
        case refused
    }

    /// 8 hex digits.
    package var id: String
    package var workingDirectory: String
    package var prompt: String
    /// nil allows all tools.
    package var allowedTools: [String]?
    package var writtenAt: Date
    package var state: State
}

/// The prompts that were written while a server was unreachable: oldest first, each sent once.
package struct AICLIOutbox: Codable, Sendable, Hashable {
    package static let mostPrompts = 200

    package var version = 1
    package private(set) var prompts: [AICLIWaitingPrompt] = []

    package init() {}

    /// The next prompt to send. A prompt in the state `uncertain` does not block the others.
    package var next: AICLIWaitingPrompt? { prompts.first { $0.state == .waiting } }

    /// - Returns: The entry; nil if the queue is full.
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

    /// Marks the prompt as being sent. Store this before the first byte is sent, so that the prompt is never sent
    /// twice.
    ///
    /// - Returns: Whether the prompt was still waiting.
    package mutating func begin(_ id: String) -> Bool {
        guard let index = prompts.firstIndex(where: { $0.id == id && $0.state == .waiting }) else { return false }
        prompts[index].state = .uncertain
        return true
    }

    /// Marks the prompt as refused by the host, so that it does not block the ones after it.
    package mutating func refuse(_ id: String) {
        guard let index = prompts.firstIndex(where: { $0.id == id }) else { return }
        prompts[index].state = .refused
    }

    /// Removes the prompt: the host has received it, or the user discarded it.
    package mutating func finish(_ id: String) {
        prompts.removeAll { $0.id == id }
    }

    /// Lets the prompt be sent again, whatever happened before.
    package mutating func putBack(_ id: String) {
        guard let index = prompts.firstIndex(where: { $0.id == id }) else { return }
        prompts[index].state = .waiting
    }
}
