package import FoundationEssentials

/// A message of a chat.
package struct CompanionMessage: Codable, Sendable, Hashable, Identifiable {
    /// The author of a message. Hosts may send other roles than the known ones.
    package struct Role: RawRepresentable, Codable, Sendable, Hashable {
        package var rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The person who wrote the prompt.
        package static let user = Role(rawValue: "user")
        /// The agent or model that answered.
        package static let assistant = Role(rawValue: "assistant")
        /// The host or the agent's program itself.
        package static let system = Role(rawValue: "system")
    }

    package var id: String
    package var role: Role
    /// The whole text, in Markdown as a rule; empty if the host does not tell it.
    package var text: String
    /// The time of the message; nil if the host tells none, or none that can be read.
    package var createdAt: Date?
    /// true for an answer that the end of the host has cut off; of hosts of v2. nil for all others.
    package var interrupted: Bool?

    package init(id: String, role: Role, text: String, createdAt: Date?) {
        self.id = id
        self.role = role
        self.text = text
        self.createdAt = createdAt
    }

    /// Only the id has to be there. A message without a role is the assistant's.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        role = try container.decodeIfPresent(Role.self, forKey: .role) ?? .assistant
        text = try container.decodeIfPresent(String.self, forKey: .text) ?? ""
        createdAt = try? container.decodeIfPresent(Date.self, forKey: .createdAt)
        interrupted = try? container.decodeIfPresent(Bool.self, forKey: .interrupted)
    }
}

/// The answer of `GET /companion/chats/:id/messages`: one page, oldest first.
package struct CompanionMessagesPageResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var chatId: String
    package var messages: LossyArray<CompanionMessage>
    /// The numeric offset, as text, of the next (newer) page; nil at the end.
    package var nextCursor: String?
    /// The offset, as text, of the page's first message; only in the answer of a v2 host that was asked for the last
    /// messages.
    package var firstCursor: String?

    package init(chatId: String, messages: [CompanionMessage], nextCursor: String?) {
        self.ok = true
        self.chatId = chatId
        self.messages = LossyArray(messages)
        self.nextCursor = nextCursor
    }

    /// Writes the page. A ``nextCursor`` of nil becomes `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(chatId, forKey: .chatId)
        try container.encode(messages, forKey: .messages)
        // Deployed hosts write `null` at the end, not nothing.
        try container.encode(nextCursor, forKey: .nextCursor)
        try container.encodeIfPresent(firstCursor, forKey: .firstCursor)
    }
}
