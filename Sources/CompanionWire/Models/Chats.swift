package import FoundationEssentials

/// A chat of a project.
package struct CompanionChat: Codable, Sendable, Hashable, Identifiable {
    package var id: String
    /// The id of the chat's project; empty if the host does not tell it.
    package var projectId: String
    /// The chat's title; empty if the host does not tell it.
    package var title: String
    /// The time of the last change; nil if the host tells none, or none that can be read.
    package var lastUpdatedAt: Date?
    /// The latest mode that the agent reported for this chat; nil if it is not known.
    package var mode: AgentMode?
    /// The id of the model, or the agent, that answered last; nil if none did, or the host does not tell.
    package var model: String?
    /// The place where the chat began; nil for one that a device began, or the host's program.
    package var origin: Origin?
    /// True while the agent says that another program has the chat's session open; nil otherwise.
    package var isOpenElsewhere: Bool?

    /// The place where a chat began, if not at a device.
    package enum Origin: String, Codable, Sendable, Hashable {
        /// It is a session that the agent listed, and has not been a chat before.
        case agent
    }

    package init(
        id: String,
        projectId: String,
        title: String,
        lastUpdatedAt: Date?,
        mode: AgentMode? = nil,
        model: String? = nil
    ) {
        self.id = id
        self.projectId = projectId
        self.title = title
        self.lastUpdatedAt = lastUpdatedAt
        self.mode = mode
        self.model = model
    }

    /// Only the id has to be there.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        projectId = try container.decodeIfPresent(String.self, forKey: .projectId) ?? ""
        title = try container.decodeIfPresent(String.self, forKey: .title) ?? ""
        lastUpdatedAt = try? container.decodeIfPresent(Date.self, forKey: .lastUpdatedAt)
        mode = try container.decodeIfPresent(AgentMode.self, forKey: .mode)
        model = try? container.decodeIfPresent(String.self, forKey: .model)
        origin = try? container.decodeIfPresent(Origin.self, forKey: .origin)
        isOpenElsewhere = try? container.decodeIfPresent(Bool.self, forKey: .isOpenElsewhere)
    }
}

/// The answer of `GET /companion/projects/:id/chats`: newest first; empty for an unknown project.
package struct CompanionChatsResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var chats: LossyArray<CompanionChat>

    package init(chats: [CompanionChat]) {
        self.ok = true
        self.chats = LossyArray(chats)
    }
}

/// The body of `POST /companion/chats/:id/continue`.
package struct ContinueChatRequest: Codable, Sendable, Hashable {
    /// The user's text for the agent; must not be empty.
    package var prompt: String
    /// A `localPath` that the host listed; nil leaves the choice to the host.
    package var projectPath: String?
    /// A model id from `GET /models`. Without one, deployed hosts store the prompt and answer with an error frame.
    package var model: String?
    /// Names of tools that may run. Nil means *all tools, approved automatically* and `[]` denies all.
    package var allowedTools: [String]?

    package init(prompt: String, projectPath: String?, model: String?, allowedTools: [String]?) {
        self.prompt = prompt
        self.projectPath = projectPath
        self.model = model
        self.allowedTools = allowedTools
    }
}
