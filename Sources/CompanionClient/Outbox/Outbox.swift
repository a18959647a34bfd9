import CompanionWire
package import FoundationEssentials

/// A prompt that has not been sent yet.
package struct WaitingPrompt: Codable, Sendable, Hashable, Identifiable {
    /// How far the prompt got.
    package enum State: String, Codable, Sendable {
        case waiting
        /// Sending began but did not complete. The host may have received it, so it is not sent again automatically.
        case uncertain
        /// The host refused to begin it.
        case refused
    }

    /// 8 hex digits.
    package var id: String
    /// The project's path as the host lists it; empty if it has none.
    package var workingDirectory: String
    package var prompt: String
    /// nil allows all tools.
    package var allowedTools: [String]?
    /// Whether questions about other tools are answered with no.
    package var deniesQuestions = false
    package var writtenAt: Date
    package var state: State
    /// The chat; nil for one that is created before the prompt is sent, and for one that follows from the directory.
    package var chatID: String?
    package var chatTitle: String?
    /// The project in which to create the chat.
    package var projectID: String?
    /// The same for all prompts of a chat that is created before the first of them is sent.
    package var newChatID: UUID?
    /// nil lets the host choose.
    package var model: String?
    /// Why the host refused it.
    package var reason: String?
    /// The id of the signed command that sends it (protocol v2). It is the same for each attempt.
    package var commandID: UUID?
    /// The command as it was last sent.
    package var command: SentCommand?

    /// The size of the prompt and its command in the outbox, in bytes.
    fileprivate var size: Int { prompt.utf8.count + (command?.body.utf8.count ?? 0) }
}

/// A signed command as it was sent, so that the same bytes can be sent again.
package struct SentCommand: Codable, Sendable, Hashable {
    /// The body of the request, byte for byte.
    package var body: String
    /// By the host's clock. After ``expiresAt`` no host executes it.
    package var issuedAt: Date
    package var expiresAt: Date
}

/// The prompts that were written while a host was unreachable: oldest first, each sent once.
package struct Outbox: Codable, Sendable, Hashable {
    package static let mostPrompts = 200
    /// The most bytes of all prompts and of the commands that were sent for them.
    package static let mostBytes = 4 << 20
    /// How long a chat is remembered that was created for a prompt, in seconds.
    private static let chatAge = 30.0 * 24 * 3600

    /// A chat that was created for prompts, which named it by their `newChatID`.
    private struct NewChat: Codable, Sendable, Hashable {
        var newChatID: UUID
        var chatID: String
        var madeAt: Date
    }

    /// The version of the file's format.
    package var version = 1
    package private(set) var prompts: [WaitingPrompt] = []
    /// Chats that somebody may still know only by their `newChatID`.
    private var newChats: [NewChat] = []

    package init() {}

    /// The chat that was created for a prompt with a `newChatID`; nil if there is none.
    package func chat(madeFor newChatID: UUID) -> String? {
        newChats.first { $0.newChatID == newChatID }?.chatID
    }

    /// The next prompt to send. A prompt in the state `uncertain` does not block the others.
    package var next: WaitingPrompt? { prompts.first { $0.state == .waiting } }

    /// Whether a prompt with this id is in the outbox and still has to be sent.
    package func isWaiting(_ id: String) -> Bool {
        prompts.contains { $0.id.isSame(as: id) && $0.state == .waiting }
    }

    /// - Returns: The entry; nil if the queue is full.
    package mutating func add(
        _ prompt: String,
        in workingDirectory: String,
        allowedTools: [String]?,
        at now: Date
    ) -> WaitingPrompt? {
        let bytes = prompts.reduce(prompt.utf8.count) { $0 + $1.size }
        guard prompts.count < Self.mostPrompts, bytes <= Self.mostBytes else { return nil }
        let id = UUID().uuidString.lowercased().prefix(8)
        let entry = WaitingPrompt(
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

    /// Changes a prompt, if it is still there.
    package mutating func change(_ id: String, _ body: (inout WaitingPrompt) -> Void) {
        guard let index = prompts.firstIndex(where: { $0.id.isSame(as: id) }) else { return }
        body(&prompts[index])
    }

    /// Names the chat that was created for a prompt, and for those that wait for the same one.
    package mutating func setChat(_ chatID: String, of id: String, at now: Date) {
        guard let first = prompts.first(where: { $0.id.isSame(as: id) }) else { return }
        if let key = first.newChatID {
            newChats.removeAll { $0.newChatID == key || now.timeIntervalSince($0.madeAt) > Self.chatAge }
            newChats.append(NewChat(newChatID: key, chatID: chatID, madeAt: now))
        }
        for index in prompts.indices
        where prompts[index].id.isSame(as: id) || first.newChatID != nil && prompts[index].newChatID == first.newChatID
        {
            prompts[index].chatID = chatID
        }
    }

    /// Marks the prompt as being sent. Store this before the first byte is sent, so that the prompt is never sent
    /// twice.
    ///
    /// - Returns: Whether the prompt was still waiting.
    package mutating func begin(_ id: String) -> Bool {
        guard isWaiting(id) else { return false }
        change(id) { $0.state = .uncertain }
        return true
    }

    /// Marks the prompt as refused by the host, so that it does not block the ones after it.
    package mutating func refuse(_ id: String, because reason: String) {
        change(id) { prompt in
            prompt.state = .refused
            prompt.reason = reason
        }
    }

    /// Removes the prompt: the host has received it, or the user discarded it.
    package mutating func finish(_ id: String) {
        prompts.removeAll { $0.id.isSame(as: id) }
    }

    /// Lets the prompt be sent: the host has not got it.
    package mutating func putBack(_ id: String) {
        change(id) { prompt in
            prompt.state = .waiting
            prompt.reason = nil
        }
    }

    /// Lets the prompt be sent again, whatever happened before: the user wants it.
    package mutating func sendAgain(_ id: String) {
        change(id) { prompt in
            guard prompt.state != .waiting else { return }
            prompt.state = .waiting
            prompt.reason = nil
            // The command of the last attempt would do nothing, or is one that the host refuses.
            prompt.command = nil
            prompt.commandID = nil
        }
    }
}
