import CompanionWire
import HTTPTypes
import Hummingbird
import NIOCore

extension CompanionCommandRouter {
    func addChatRoutes(to router: Router<HostRequestContext>) {
        add(.get, path: "/companion/projects", to: router) { request, context in
            try await admit(request, in: context)
            return .json(try await store.projectsList())
        }
        add(.get, path: "/companion/projects/:id/chats", to: router) { request, context in
            try await admit(request, in: context)
            var chats = try await store.chats(projectID: context.parameter("id"))
            if context.version < 2 { for index in chats.indices { chats[index].mode = nil } }
            return .json(CompanionChatsResponse(chats: chats))
        }
        add(.get, path: "/companion/chats/:id/messages", to: router) { request, context in
            try await admit(request, in: context)
            let chatID = try context.parameter("id")
            guard !chatID.isEmpty else {
                throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingChatID)
            }
            let query = request.uri.queryParameters
            let page = try await store.messagesPage(
                chatID: chatID,
                offset: Self.integer(query["cursor"]) ?? 0,
                last: context.version < 2 ? nil : Self.integer(query["last"]),
                limit: Self.integer(query["limit"]) ?? CompanionHostStore.defaultPageSize
            )
            return .json(page)
        }
        add(.post, path: "/companion/chats/:id/continue", to: router) { request, context in
            try await continueChat(request, in: context)
        }
    }

    /// Reads a number as deployed hosts do (`parseInt`): white space, a sign, digits; the rest is ignored.
    static func integer(_ text: Substring?) -> Int? {
        guard let text else { return nil }
        let trimmed = text.drop(while: \.isWhitespace)
        let isSigned = trimmed.first == "-" || trimmed.first == "+"
        let digits = trimmed.dropFirst(isSigned ? 1 : 0).prefix { ("0"..."9").contains($0) }
        guard !digits.isEmpty else { return nil }
        let value = Int(digits) ?? .max
        return trimmed.first == "-" ? -value : value
    }

    private func continueChat(_ request: Request, in context: HostRequestContext) async throws -> Response {
        var context = context
        do {
            try await admit(request, in: context, for: .chatSend)
        } catch {
            if context.version == 1 { try await context.checkBody(ofRefused: request) }
            throw error
        }
        try await context.readBody(of: request, upTo: BodyLimit.device)
        // A body takes as long as its sender likes: what counts is who may do what now.
        let sender = try await admit(request, in: context, for: .chatSend)
        let device = sender.id
        guard agent.isAvailable() else { throw HostError.agentUnavailable }
        let chatID = try context.parameter("id")
        guard !chatID.isEmpty else { throw HostResponseError(.badRequest, CompanionErrorResponse.Text.missingChatID) }
        guard chatID.utf8.count <= CompanionHostStore.maximumChatIDSize else {
            throw HostResponseError(.badRequest, HostErrorText.chatIDTooLong)
        }
        let body = try HostJSON.decode(ContinueBody.self, from: context.json)
        guard !body.prompt.trimmingWhitespace().isEmpty else {
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.promptRequired)
        }
        // A prompt to a chat that does not exist makes one.
        let isNew = try await store.projectID(ofChat: chatID) == nil
        if isNew, !sender.permissions.contains(.chatCreate) { throw HostError.permissionDenied }
        let (project, directory) = try await store.workplace(chatID: chatID, projectPath: body.projectPath)
        let turn = AgentTurn(
            chatID: chatID,
            prompt: body.prompt,
            directory: directory,
            allowedTools: body.allowedTools.map(Set.init)
        )
        var usage = DeviceUsage.message(body.prompt)
        if isNew { usage.chats = 1 }
        let id = try await quotas.charging(usage, to: device, in: store.database) {
            try await turns.submit(turn, project: project, model: body.model, device: device)
        }
        guard let frames = try await turns.log.reader(turnID: id) else {
            throw HostResponseError(.internalServerError, HostErrorText.internalError)
        }
        return .eventStream(frames, until: access(of: sender, in: context))
    }
}
