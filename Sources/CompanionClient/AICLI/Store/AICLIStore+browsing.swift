package import CompanionWire
package import FoundationEssentials
import LocalState

/// What is stored of a server, without asking it.
extension AICLIStore: ProjectBrowsing, ChatBrowsing {
    /// When the projects or messages were last changed; nil if there are none.
    package var changedAt: Date? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.begins(with: "chat-") || $0.isSame(as: "projects.json") }
            .compactMap { FileStatus("\(directory)/\($0)")?.changedAt }.max()
    }

    /// The projects that the server listed last.
    package func projects() async throws -> [CompanionProject] {
        try listing()?.projects ?? []
    }

    package func chats(projectID: String) async throws -> [CompanionChat] {
        try listing()?.projects.filter { $0.id.isSame(as: projectID) }.map(\.onlyChat) ?? []
    }

    package func messagesPage(
        chatID: String,
        cursor: String?,
        limit: Int
    ) async throws -> CompanionMessagesPageResponse {
        try transcript(chatID: chatID).page(chatID: chatID, cursor: cursor, limit: limit)
    }
}

extension CompanionProject {
    /// A project's chat: servers have one for each.
    var onlyChat: CompanionChat {
        CompanionChat(
            id: AICLISessionTable.chatID(for: localPath),
            projectId: id,
            title: name,
            lastUpdatedAt: lastUpdatedAt
        )
    }
}
