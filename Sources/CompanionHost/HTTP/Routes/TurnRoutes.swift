import CompanionWire
import HTTPTypes
import Hummingbird

/// The prompts for chats, and the frames of their turns.
struct TurnRoutes: RouteGroup {
    /// The answer to a `Last-Event-ID` that is no number of a frame.
    fileprivate static let badEventID = HostResponseError(
        .badRequest,
        "Last-Event-ID is not the number of a frame of this turn"
    )

    let access: RequestAccess
    let store: CompanionHostStore
    let chats: AgentChats
    let turns: TurnRunner
    let quotas: DeviceQuotas

    func addRoutes(to router: Router<HostRequestContext>) {
        router.add("/companion/chats/:id/continue", method: .post, use: continueChat)
        router.add("/companion/chats/:id/turns/:turnId/events", hasHead: false) { request, context in
            let device = try await access.admit(request, in: context)
            let number = try request.lastEventID()
            let turnID = try context.parameter("turnId")
            guard try await isServed(turnID: turnID, chatID: context.parameter("id")) else {
                throw HostError.turnUnknown
            }
            do {
                guard let frames = try await turns.log.reader(turnID: turnID, after: number) else {
                    throw HostError.turnUnknown
                }
                return .turnEvents(
                    frames,
                    until: access.stream(for: device, in: context),
                    isOfV1: context.version < 2,
                    // They may show more of the files than the other frames do.
                    hasACP: request.integer("acp") == 1 && device.permissions.contains(.chatSend)
                )
            } catch is LastEventIDError {
                throw Self.badEventID
            }
        }
    }

    @Sendable private func continueChat(_ request: Request, in context: HostRequestContext) async throws -> Response {
        var context = context
        do {
            try await access.admit(request, in: context, for: .chatSend)
        } catch {
            if context.version == 1 { try await context.checkBody(ofRefused: request) }
            throw error
        }
        try await context.readBody(of: request, upTo: BodyLimit.device)
        // A body takes as long as its sender likes: what counts is who may do what now.
        let sender = try await access.admit(request, in: context, for: .chatSend)
        guard turns.agent.isAvailable() else { throw HostError.agentUnavailable }
        let chatID = try context.chatID()
        guard chatID.utf8.count <= CompanionHostStore.maximumChatIDSize else {
            throw HostResponseError(.badRequest, "Chat id is over 200 bytes")
        }
        let body = try HostJSON.decode(ContinueBody.self, from: context.json)
        guard !body.prompt.trimmingWhitespace().isEmpty else {
            throw HostResponseError(.badRequest, CompanionErrorResponse.Text.promptRequired)
        }
        let id = try await submit(body, toChat: chatID, from: sender)
        guard let frames = try await turns.log.reader(turnID: id) else {
            throw HostResponseError(.internalServerError, HostError.internal.text)
        }
        return .eventStream(frames, until: access.stream(for: sender, in: context))
    }

    /// Begins a turn. A prompt to a chat that does not exist creates the chat.
    ///
    /// - Returns: The id of the turn.
    private func submit(
        _ body: ContinueBody,
        toChat chatID: String,
        from sender: AuthenticatedDevice
    ) async throws -> String {
        try await chats.prepare(chatID)
        let isNew = try await store.projectID(ofChat: chatID) == nil
        if isNew, !sender.permissions.contains(.chatCreate) {
            throw HostError.lacking(.chatCreate, device: sender.id)
        }
        let (project, directory) = try await store.workplace(chatID: chatID, projectPath: body.projectPath)
        let turn = AgentTurn(
            chatID: chatID,
            prompt: body.prompt,
            directory: body.projectPath?.isEmpty == false
                ? directory : try await chats.directory(ofChat: chatID) ?? directory,
            allowedTools: body.allowedTools.map(Set.init)
        )
        // As on deployed hosts, a prompt without a model is stored and answered with an error.
        let model = try await store.model(ofChat: chatID)
        let chosen = try body.model.map { try turns.agent.model(asked: $0, kept: model) ?? $0 }
        var usage = DeviceUsage.message(body.prompt)
        if isNew { usage.chats = 1 }
        return try await quotas.charging(usage, to: sender.id, in: store.database) {
            try await turns.submit(turn, project: project, model: chosen, device: sender.id)
        }
    }

    /// Whether there is such a turn in the chat, and the chat is not one of a project that is no longer listed.
    private func isServed(turnID: String, chatID: String) async throws -> Bool {
        guard try await turns.log.turn(id: turnID)?.chatId == chatID else { return false }
        let project = try await store.projectID(ofChat: chatID)
        return project.map { store.catalog.project(id: $0) != nil } ?? true
    }
}

extension Request {
    /// The number of the last frame that a client has; 0 without a header.
    ///
    /// - Throws: 400 for anything that is no number of a frame.
    fileprivate func lastEventID() throws(HostResponseError) -> Int {
        guard let header = headers[.lastEventID] else { return 0 }
        let digits = header.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard digits, let number = Int(header) else {
            throw TurnRoutes.badEventID
        }
        return number
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
