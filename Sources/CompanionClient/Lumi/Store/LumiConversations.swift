package import CompanionWire
package import FoundationEssentials
package import History
import LocalState
import NIOConcurrencyHelpers

/// The conversations with the agents of a Lumi host, pulled and made here. They are in the history alone, whether or
/// not the user wants one of other hosts.
package struct LumiConversations: Sendable {
    private let store: LumiStore
    private let history: HistoryStore
    private let host: HistoryHost
    private let now: @Sendable () -> Date
    /// The chat whose pages are being read.
    private let opened = NIOLockedValueBox<LumiConversation?>(nil)
    /// The chats of each agent, as they were when the agents were listed.
    private let listed = NIOLockedValueBox<[String: [CompanionChat]]?>(nil)

    /// - Parameter history: The caller closes it.
    package init(
        _ store: LumiStore,
        in history: HistoryStore,
        of host: HistoryHost,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.store, self.history, self.host, self.now) = (store, history, host, now)
    }

    /// The conversations in the history that a recorder writes to; nil if that cannot be used.
    package init?(_ store: LumiStore, recorder: HistoryRecorder) async {
        let found = await recorder.history.use { history throws(HistoryError) in history }
        guard let found else { return nil }
        self.init(store, in: found, of: recorder.host, now: recorder.now)
    }

    /// One conversation; nil if there is none.
    ///
    /// - Throws: ``LumiStoreError``, `HistoryError`.
    package func conversation(_ id: UUID) async throws -> LumiConversation? {
        try await move()
        return try await history.keptChat(id: LumiStore.id(id), hostID: host.id).flatMap(LumiConversation.init)
    }

    /// Adds messages to a conversation, pulled or not.
    ///
    /// - Parameter conversation: What it is; its messages are not looked at.
    package func append(_ messages: [LumiMessage], to conversation: LumiConversation) async throws {
        var conversation = conversation
        conversation.messages = messages
        conversation.updatedAt = messages.compactMap(\.timestamp).max() ?? conversation.updatedAt
        try await add(conversation)
        opened.withLockedValue { $0 = nil }
        listed.withLockedValue { $0 = nil }
    }

    private func add(_ conversation: LumiConversation) async throws {
        try await history.add(
            own: KeptChat(conversation, agents: knownAgents()),
            pictures: LumiStore.keptPictures,
            of: host,
            at: now()
        )
    }

    /// The agents that are there; nil if that cannot be read, which keeps no conversation from being written.
    private func knownAgents() -> Set<UUID>? {
        do {
            return Set(try store.loadAgents()?.items.map(\.id) ?? [])
        } catch {
            return nil
        }
    }

    /// The mark of the last pull (``LumiStore/mark(of:)``); nil if it has to be pulled again.
    package func pulledMark() async throws -> Int64? {
        try await history.pulledMark(hostID: host.id)
    }

    /// Moves what was pulled to the history. A file is removed after what it holds was written, and nothing is doubled
    /// if it is read again. Damaged files stay.
    package func move() async throws {
        guard store.hasConversations else { return }
        try await store.lockAwaited {
            // What a process that was killed had begun to move, and what was pulled since.
            for _ in 0..<2 {
                let taken = try await BlockingCall.run { [store] in try store.takePulled() }
                guard let (pulled, mark) = taken else { break }
                let agents = knownAgents()
                try await history.take(
                    pulled: pulled.map { KeptChat($0, agents: agents) },
                    mark: mark,
                    of: host,
                    at: now()
                )
                store.removeTaken()
            }
        }
    }
}

/// An agent is a project, a conversation is a chat.
extension LumiConversations: ProjectBrowsing, ChatBrowsing {
    /// - Throws: ``LumiStoreError/Code/neverPulled`` where there is nothing yet.
    package func projects() async throws -> [CompanionProject] {
        let pulled = try store.loadAgents()
        let agents = pulled?.items ?? []
        let all = try await readChats(agents)
        guard pulled != nil || !all.isEmpty else {
            throw LumiStoreError(
                .neverPulled,
                message: "nothing was pulled from the host yet",
                remedy: "pairtool lumi sync"
            )
        }
        let chats = Dictionary(grouping: all, by: \.projectId)
        listed.withLockedValue { $0 = chats }
        var projects = agents.map { agent in
            let id = LumiStore.id(agent.id)
            let last = [chats[id]?.compactMap(\.lastUpdatedAt).max(), agent.updatedAt, agent.createdAt]
            return CompanionProject(
                id: id,
                name: agent.name,
                // Not a directory, but unlike those of a catch-all it says where a prompt goes.
                localPath: LumiStore.pathPrefix + id,
                lastUpdatedAt: last.compactMap(\.self).max()
            )
        }
        if let others = chats[LumiStore.otherProjectID] {
            projects.append(
                CompanionProject(
                    id: LumiStore.otherProjectID,
                    name: "Lumi",
                    localPath: "",
                    lastUpdatedAt: others.compactMap(\.lastUpdatedAt).max()
                )
            )
        }
        return projects.sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
    }

    package func chats(projectID: String) async throws -> [CompanionChat] {
        if let listed = listed.withLockedValue(\.self) { return listed[projectID] ?? [] }
        return try await readChats(store.loadAgents()?.items ?? []).filter { $0.projectId == projectID }
    }

    /// The first page is read again; later pages are of the chat as it was then.
    package func messagesPage(chatID: String, cursor: String?, limit: Int) async throws
        -> CompanionMessagesPageResponse
    {
        var messages: [LumiMessage] = []
        if let id = UUID(uuidString: chatID) { messages = try await open(id, anew: cursor == nil)?.messages ?? [] }
        let start = min(max(cursor.flatMap(Int.init) ?? 0, 0), messages.count)
        let end = min(start + min(max(limit, 1), 200), messages.count)
        return CompanionMessagesPageResponse(
            chatId: chatID,
            messages: messages[start..<end].map(LumiStore.message),
            nextCursor: end < messages.count ? String(end) : nil
        )
    }

    private func open(_ id: UUID, anew: Bool) async throws -> LumiConversation? {
        if !anew, let opened = opened.withLockedValue(\.self), opened.id == id { return opened }
        let conversation = try await conversation(id)
        opened.withLockedValue { $0 = conversation }
        return conversation
    }

    private func readChats(_ agents: [LumiAgent]) async throws -> [CompanionChat] {
        try await move()
        let known = Set(agents.map { LumiStore.id($0.id) })
        return try await history.keptChats(hostID: host.id).map { chat in
            CompanionChat(
                id: chat.id,
                // Each chat is in one project: that of the first agent that is still there.
                projectId: chat.participants.first(where: known.contains) ?? LumiStore.otherProjectID,
                title: chat.title,
                lastUpdatedAt: chat.updatedAt
            )
        }
    }
}

extension KeptChat {
    /// - Parameter agents: Those that are there; nil if that is not known.
    fileprivate init(_ conversation: LumiConversation, agents: Set<UUID>?) {
        self.init(
            id: LumiStore.id(conversation.id),
            projectID: conversation.participantIds.first { agents?.contains($0) ?? true }.map(LumiStore.id)
                ?? LumiStore.otherProjectID,
            title: conversation.displayTitle,
            participants: conversation.participantIds.map(LumiStore.id),
            messages: conversation.messages.map { message in
                KeptMessage(
                    id: LumiStore.id(message.id),
                    role: message.role == "agent" ? CompanionMessage.Role.assistant.rawValue : message.role,
                    text: message.content,
                    author: message.agentId.map(LumiStore.id),
                    createdAt: message.timestamp,
                    interrupted: message.isStreaming,
                    picture: message.imageData.map { Array($0) }
                )
            },
            createdAt: conversation.createdAt,
            updatedAt: conversation.lastActivity
        )
    }
}

extension LumiConversation {
    /// - Returns: nil for a chat whose id is no UUID. Such messages are left out.
    fileprivate init?(_ chat: KeptChat) {
        guard let id = UUID(uuidString: chat.id) else { return nil }
        self.init(
            id: id,
            title: chat.title,
            participantIds: chat.participants.compactMap { UUID(uuidString: $0) },
            messages: chat.messages.compactMap { message in
                guard let id = UUID(uuidString: message.id) else { return nil }
                return LumiMessage(
                    id: id,
                    role: message.role == CompanionMessage.Role.assistant.rawValue ? "agent" : message.role,
                    content: message.text,
                    agentId: message.author.flatMap { UUID(uuidString: $0) },
                    timestamp: message.createdAt,
                    isStreaming: message.interrupted,
                    imageData: message.picture.map { Data($0) }
                )
            },
            createdAt: chat.createdAt,
            updatedAt: chat.updatedAt
        )
    }
}

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
