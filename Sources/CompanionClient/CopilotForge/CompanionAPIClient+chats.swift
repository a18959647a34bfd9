package import CompanionWire

extension CompanionAPIClient: ProjectBrowsing, ChatBrowsing, ChatContinuing {
    /// `GET /companion/projects`.
    package func projects() async throws -> [CompanionProject] {
        try await json(.get("/companion/projects"), as: CompanionProjectsResponse.self).projects.elements
    }

    /// `GET /companion/projects/:id/chats`.
    package func chats(projectID: String) async throws -> [CompanionChat] {
        let target = "/companion/projects/\(try segment(projectID, "project"))/chats"
        return try await json(.get(target), as: CompanionChatsResponse.self).chats.elements
    }

    /// `GET /companion/chats/:id/messages`.
    ///
    /// A page of one message may have as many bytes as the limits allow a message, any other as many as a body.
    package func messagesPage(
        chatID: String,
        cursor: String? = nil,
        limit: Int = 50
    ) async throws -> CompanionMessagesPageResponse {
        let limit = min(max(limit, 1), 200)
        let query = "cursor=\(percentEncoded(cursor ?? "0"))&limit=\(limit)"
        let target = "/companion/chats/\(try segment(chatID, "chat"))/messages?\(query)"
        let limits = configuration.limits
        let bytes = limit == 1 ? max(limits.message, limits.body) : limits.body
        return try await json(.get(target), as: CompanionMessagesPageResponse.self, upTo: bytes)
    }

    /// `POST /companion/chats/:id/continue`.
    ///
    /// The request is sent when the first event is asked for, once: the sequence has one reader.
    package func continueChat(chatID: String, _ request: ContinueChatRequest) -> ContinueChatStream {
        ContinueChatStream(client: self, chatID: chatID, request: request)
    }
}
