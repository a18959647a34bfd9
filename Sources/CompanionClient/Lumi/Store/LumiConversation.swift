package import FoundationEssentials

/// A conversation with agents.
package struct LumiConversation: Codable, Sendable, Hashable, Identifiable {
    package var id: UUID
    package var title: String?
    /// The ids of the agents that take part.
    package var participantIds: [UUID]
    /// Oldest first.
    package var messages: [LumiMessage]
    var createdAt: Date?
    var updatedAt: Date?

    package init(
        id: UUID,
        title: String? = nil,
        participantIds: [UUID] = [],
        messages: [LumiMessage] = [],
        createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) {
        self.id = id
        self.title = title
        self.participantIds = participantIds
        self.messages = messages
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        title = container.lenient(.title)
        participantIds = container.lenient(.participantIds) ?? []
        messages = container.lenient(.messages, as: LumiItems<LumiMessage>.self)?.items ?? []
        createdAt = container.lumiDate(.createdAt)
        updatedAt = container.lumiDate(.updatedAt)
    }

    /// When something last happened in it.
    package var lastActivity: Date? {
        [updatedAt, messages.compactMap(\.timestamp).max(), createdAt].compactMap(\.self).max()
    }
}

/// A message of a conversation.
package struct LumiMessage: Codable, Sendable, Hashable, Identifiable {
    package var id: UUID
    /// `user` or `agent`.
    package var role: String
    package var content: String
    /// Which agent wrote it.
    package var agentId: UUID?
    var timestamp: Date?
    /// Whether the answer was still being written when the Mac wrote the file.
    package var isStreaming: Bool
    /// A picture that belongs to it; its type shows by its first bytes.
    package var imageData: Data?

    package init(
        id: UUID,
        role: String,
        content: String,
        agentId: UUID? = nil,
        timestamp: Date? = nil,
        isStreaming: Bool = false,
        imageData: Data? = nil
    ) {
        self.id = id
        self.role = role
        self.content = content
        self.agentId = agentId
        self.timestamp = timestamp
        self.isStreaming = isStreaming
        self.imageData = imageData
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        role = container.lenient(.role) ?? "agent"
        content = container.lenient(.content) ?? ""
        agentId = container.lenient(.agentId)
        timestamp = container.lumiDate(.timestamp)
        isStreaming = container.lenient(.isStreaming) ?? false
        imageData = container.lenient(.imageData)
    }

    package var isFromUser: Bool { role == "user" }
}
