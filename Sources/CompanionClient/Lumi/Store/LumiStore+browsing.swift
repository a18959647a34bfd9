package import CompanionWire
package import FoundationEssentials
import NIOConcurrencyHelpers

/// The pulled conversations through the capabilities of every family: an agent is a project, a conversation is a chat.
extension LumiStore: ProjectBrowsing, ChatBrowsing {
    /// The id of the project for conversations without a known agent.
    package static let otherProjectID = "lumi"
    private static let pathPrefix = "agent:"

    /// All conversations are in one file, which is not read for each of their projects and pages.
    struct Memory: Sendable {
        var chats: [CompanionChat]?
        /// The chat whose pages are being read.
        var opened: LumiConversation?
    }

    /// Reads anew; ``chats(projectID:)`` gives what was read here last.
    ///
    /// - Throws: ``LumiStoreError/Code/neverPulled`` where there is nothing yet.
    package func projects() async throws -> [CompanionProject] {
        let pulled = try loadAgents()
        let agents = pulled?.items ?? []
        let all = try readChats(agents)
        guard pulled != nil || !all.isEmpty else {
            throw LumiStoreError(.neverPulled, "nothing was pulled from the host yet", remedy: "pairtool lumi sync")
        }
        let chats = Dictionary(grouping: all, by: \.projectId)
        var projects = agents.map { agent in
            let last = [chats[Self.id(agent.id)]?.compactMap(\.lastUpdatedAt).max(), agent.updatedAt, agent.createdAt]
            return CompanionProject(
                id: Self.id(agent.id),
                name: agent.name,
                // Not a directory, but unlike those of a catch-all it says where a prompt goes.
                localPath: Self.pathPrefix + Self.id(agent.id),
                lastUpdatedAt: last.compactMap(\.self).max()
            )
        }
        if let others = chats[Self.otherProjectID] {
            projects.append(
                CompanionProject(
                    id: Self.otherProjectID,
                    name: "Lumi",
                    localPath: "",
                    lastUpdatedAt: others.compactMap(\.lastUpdatedAt).max()
                )
            )
        }
        return projects.sorted { ($0.lastUpdatedAt ?? .distantPast) > ($1.lastUpdatedAt ?? .distantPast) }
    }

    package func chats(projectID: String) async throws -> [CompanionChat] {
        let chats = try memory.withLockedValue(\.chats) ?? readChats(loadAgents()?.items ?? [])
        return chats.filter { $0.projectId == projectID }
    }

    /// The first page is read anew; those behind it are of the chat as it was then.
    package func messagesPage(chatID: String, cursor: String?, limit: Int) async throws
        -> CompanionMessagesPageResponse
    {
        let messages = try UUID(uuidString: chatID).flatMap { try open($0, anew: cursor == nil) }?.messages ?? []
        let start = min(max(cursor.flatMap(Int.init) ?? 0, 0), messages.count)
        let end = min(start + min(max(limit, 1), 200), messages.count)
        return CompanionMessagesPageResponse(
            chatId: chatID,
            messages: messages[start..<end].map(Self.message),
            nextCursor: end < messages.count ? String(end) : nil
        )
    }

    /// The agent that a project's path names; nil for other paths.
    package static func agentID(path: String?) -> UUID? {
        guard let path, path.begins(with: pathPrefix) else { return nil }
        return UUID(uuidString: String(path.dropFirst(pathPrefix.count)))
    }

    /// As it is shown and typed: in lower case.
    package static func id(_ id: UUID) -> String { id.uuidString.lowercased() }

    private func open(_ id: UUID, anew: Bool) throws -> LumiConversation? {
        if !anew, let opened = memory.withLockedValue(\.opened), opened.id == id { return opened }
        let conversation = try conversation(id)
        memory.withLockedValue { $0.opened = conversation }
        return conversation
    }

    private func readChats(_ agents: [LumiAgent]) throws -> [CompanionChat] {
        let known = Set(agents.map(\.id))
        let (conversations, damaged) = try listing()
        var chats = conversations.map { conversation in
            // Each chat is in one project: that of the first agent that is still there.
            let agent = conversation.participantIds.first(where: known.contains)
            return CompanionChat(
                id: Self.id(conversation.id),
                projectId: agent.map(Self.id) ?? Self.otherProjectID,
                title: conversation.displayTitle,
                lastUpdatedAt: conversation.lastActivity
            )
        }
        // Whoever asks for one of them is told which file it is.
        chats += damaged.map { id in
            CompanionChat(
                id: Self.id(id),
                projectId: Self.otherProjectID,
                title: "Damaged conversation",
                lastUpdatedAt: nil
            )
        }
        memory.withLockedValue { $0.chats = chats }
        return chats
    }

    package static func message(_ message: LumiMessage) -> CompanionMessage {
        CompanionMessage(
            id: id(message.id),
            role: message.role == "agent" ? .assistant : CompanionMessage.Role(rawValue: message.role),
            text: message.content + (message.imageData == nil ? "" : " [picture]")
                + (message.isStreaming ? " [broken off]" : ""),
            createdAt: message.timestamp
        )
    }
}

extension LumiConversation {
    /// The title, or else the beginning of what was said first.
    package var displayTitle: String {
        if let title, !title.isEmpty { return title }
        let first = messages.first { $0.isFromUser } ?? messages.first
        let line = first?.content.split(whereSeparator: \.isNewline).first ?? "Conversation"
        return String(line.prefix(60))
    }
}
