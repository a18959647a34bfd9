package import CompanionWire

/// A host that lists projects and their chats.
package protocol ProjectBrowsing: Sendable {
    /// The projects as the host lists them, newest first. ``ProjectMerger`` merges them for display.
    func projects() async throws -> [CompanionProject]
    /// The chats of a project, newest first; none for an unknown project.
    func chats(projectID: String) async throws -> [CompanionChat]
}

/// A host that shows the messages of a chat.
package protocol ChatBrowsing: Sendable {
    /// One page of a chat, oldest message first; empty for an unknown chat.
    ///
    /// - Parameters:
    ///   - cursor: A `nextCursor` from the host; nil begins at the oldest message.
    ///   - limit: The most messages per page; clamped to 1…200.
    func messagesPage(chatID: String, cursor: String?, limit: Int) async throws -> CompanionMessagesPageResponse
}
