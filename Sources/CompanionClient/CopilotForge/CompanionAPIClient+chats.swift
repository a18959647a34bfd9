package import CompanionWire

extension CompanionAPIClient: ProjectBrowsing, ChatBrowsing {
    /// `GET /companion/projects`.
    package func projects() async throws -> [CompanionProject] {
        // The host sends all projects in one answer, and it may have a hundred thousand.
        let limits = configuration.limits
        let list = try await json(
            .get("/companion/projects"),
            as: CompanionProjectsResponse.self,
            upTo: max(limits.message, limits.body)
        ).projects
        return leftOut.elements(of: list, as: .projects)
    }

    /// `GET /companion/projects/:id/chats`.
    package func chats(projectID: String) async throws -> [CompanionChat] {
        let target = "/companion/projects/\(try segment(projectID, of: "project"))/chats"
        let list = try await json(.get(target), as: CompanionChatsResponse.self).chats
        return leftOut.elements(of: list, as: .chats, of: projectID)
    }

    /// `GET /companion/chats/:id/messages`.
    ///
    /// The answer for a single message may have as many bytes as the limit for a message; other pages are limited like
    /// any body.
    package func messagesPage(
        chatID: String,
        cursor: String? = nil,
        limit: Int = 50
    ) async throws -> CompanionMessagesPageResponse {
        let page = try await page(of: chatID, from: "cursor=\(percentEncoded(cursor ?? "0"))", limit: limit)
        // Cursors are offsets. If this one is not, it identifies the page itself.
        let start = cursor.flatMap(Int.init)
        let owner = start == nil ? "\(chatID) \(cursor ?? "")" : "\(chatID) "
        _ = leftOut.elements(of: page.messages, as: .messages, from: start ?? 0, of: owner)
        return page
    }

    /// `GET /companion/chats/:id/messages?last=`, which only hosts of protocol v2 are asked. One that does not know it
    /// returns the chat's first page, without `firstCursor`.
    package func lastPage(chatID: String, count: Int, limit: Int) async throws -> CompanionMessagesPageResponse? {
        guard session != nil else { return nil }
        let page = try await page(of: chatID, from: "last=\(count)", limit: limit)
        guard let start = page.firstCursor else { return nil }
        _ = leftOut.elements(of: page.messages, as: .messages, from: Int(start) ?? 0, of: "\(chatID) ")
        return page
    }

    private func page(
        of chatID: String,
        from start: String,
        limit: Int
    ) async throws -> CompanionMessagesPageResponse {
        let limit = min(max(limit, 1), 200)
        let target = "/companion/chats/\(try segment(chatID, of: "chat"))/messages?\(start)&limit=\(limit)"
        let limits = configuration.limits
        let bytes = limit == 1 ? max(limits.message, limits.body) : limits.body
        return try await json(.get(target), as: CompanionMessagesPageResponse.self, upTo: bytes)
    }

    /// `POST /companion/chats/:id/continue`.
    ///
    /// The request is sent once, when the first event is read; the sequence supports one reader. It ends after `[DONE]`
    /// or an error frame, and throws ``CompanionClientError/Code/streamInterrupted`` if the answer ends without either.
    package func continueChat(chatID: String, request: ContinueChatRequest) -> ContinueChatStream {
        ContinueChatStream(client: self, chatID: chatID, request: request)
    }
}
