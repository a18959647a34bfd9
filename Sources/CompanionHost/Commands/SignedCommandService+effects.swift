import CompanionWire
import FoundationEssentials
import GRDB
import NIOConcurrencyHelpers

extension SignedCommandService {
    func createProject(
        name: String,
        localPath: String?,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        // First of all without an effect: what is refused or repeated makes no directory.
        let known = try await ledger.result(of: command, digest: digest, permission: .projectCreate)
        if let known { return CommandLedger.Outcome(result: known, isReplay: true) }
        // Outside of any transaction: a slow disk or mount holds up nothing but this. A directory that a crash leaves
        // without its project is empty, and the repetition takes it.
        let made = try await makeProject(name, localPath)
        let now = services.clock.now()
        do {
            return try await ledger.once(command, digest: digest, permission: .projectCreate) { database in
                // One that is listed already is not made.
                if services.store.catalog.project(id: made.project.id) == nil {
                    try services.quotas.charge(DeviceUsage(chats: 1), to: command.deviceId, in: database)
                }
                let project = try services.store.add(made.project, at: now, in: database)
                // Served once it is stored; a project of a transaction that fails is listed by no database.
                database.afterNextTransaction { _ in
                    services.store.catalog.add(made.project)
                    services.events.send(.projectCreated(project, device: command.deviceId))
                }
                return try CanonicalJSON(encoding: project)
            }
        } catch let refusal as HostError {
            await made.discard()
            throw refusal
        }
    }

    /// A chat that does not exist yet.
    func newChat(projectID: String, title: String?) throws -> CompanionChat {
        CompanionChat(
            id: UUID().uuidString.lowercased(),
            projectId: projectID,
            title: title.map { CompanionHostStore.title(prompt: $0) } ?? "",
            lastUpdatedAt: services.clock.now()
        )
    }

    /// - Parameter result: The command's result, which is stored with it.
    func createChat(
        _ chat: CompanionChat,
        result: CanonicalJSON,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        let permission: CompanionPermission = result["sessionId"] == nil ? .chatCreate : .sessionCreate
        return try await ledger.once(command, digest: digest, permission: permission) { database in
            // Here, not before: what is refused for another reason does not tell which projects there are.
            guard services.store.catalog.project(id: chat.projectId) != nil else {
                throw HostError(.requestNotFound, "Unknown project")
            }
            let usage = DeviceUsage(chats: 1, bytes: chat.title.utf8.count)
            try services.quotas.charge(usage, to: command.deviceId, in: database)
            try services.store.add(chat, in: database)
            return result
        } committed: {
            services.events.send(.chatCreated(chat, device: command.deviceId))
        }
    }

    /// Makes a chat that is on no list until it has a prompt.
    func createDraft(_ chat: CompanionChat, command: SignedCommand, digest: [UInt8]) async throws
        -> CommandLedger.Outcome
    {
        let result = try CanonicalJSON(encoding: chat)
        let removed = NIOLockedValueBox<[String]>([])
        return try await ledger.once(command, digest: digest, permission: .chatCreate) { database in
            guard services.store.catalog.project(id: chat.projectId) != nil else {
                throw HostError(.requestNotFound, "Unknown project")
            }
            // The agent opens a session for it, whether or not it gets a prompt.
            try services.quotas.charge(DeviceUsage(chats: 1, bytes: 0), to: command.deviceId, in: database)
            let old = try services.store.addDraft(chat, of: command.deviceId, in: database)
            removed.withLockedValue { $0 = old }
            return result
        } committed: {
            for chat in removed.withLockedValue(\.self) { services.agent.forget(chat: chat) }
        }
    }

    /// Begins a turn, which is remembered before it begins: a repetition finds either the turn or that it is missing.
    func send(_ payload: CommandPayload, command: SignedCommand, digest: [UInt8]) async throws -> CommandLedger.Outcome
    {
        guard case .chatSend(let chatID, let text, let model, let allowedTools, let images, let content) = payload
        else { throw HostError(.commandBadShape, "The body is not JSON with the fields of this request") }
        let blocks = try content.map(ACPPrompt.blocks)
        // What people see is what the agent gets.
        let prompt = blocks.map(ACPContent.prompt) ?? text
        try CommandLimits.check(prompt: prompt)
        try await services.chats.prepare(chatID)
        let turnID = UUID().uuidString.lowercased()
        let usage = DeviceUsage.message(prompt)
        let wasDraft = NIOLockedValueBox(false)
        let outcome = try await ledger.once(command, digest: digest, permission: .chatSend) { database in
            guard var chat = try ChatRecord.fetchOne(database, key: ["id": chatID]),
                services.store.catalog.project(id: chat.project) != nil
            else { throw HostError(.requestNotFound, "Unknown chat") }
            if let model, services.agent.owner(of: model) == nil {
                throw HostError(.requestInvalid, "Unknown model")
            }
            let chosen = try services.agent.model(asked: model, kept: chat.model)
            let agent = services.agent.member(answering: chosen ?? "")
            guard agent.isAvailable() else { throw HostError.agentUnavailable }
            guard images.isEmpty || agent.mayTakeImages(for: chosen) else {
                throw HostError(.requestInvalid, "This agent takes no pictures")
            }
            wasDraft.withLockedValue { [isDraft = chat.draftOf != nil] in $0 = isDraft }
            try services.quotas.charge(usage, to: command.deviceId, in: database)
            // Here, so that of two prompts that come together one chooses.
            (chat.model, chat.draftOf) = (chat.model ?? chosen, nil)
            try chat.update(database, columns: ["model", "draftOf"])
            // Says to the device that its pictures were not passed over.
            let count: JSONValue? = images.isEmpty ? nil : .integer(Int64(images.count))
            return try CanonicalJSON(.object(["turnId": .string(turnID), "images": count].compactMapValues(\.self)))
        }
        // The host may have ended between the two: then the turn is begun now.
        let id = outcome.result["turnId"]?.string ?? turnID
        if outcome.isReplay, try await services.turns.log.knows(turnID: id) { return outcome }
        guard let projectID = try await services.store.projectID(ofChat: chatID),
            let project = services.store.catalog.project(id: projectID)
        else { throw HostError(.requestNotFound, "Unknown chat") }
        let turn = AgentTurn(
            chatID: chatID,
            prompt: prompt,
            directory: try await services.chats.directory(ofChat: chatID) ?? project.path,
            allowedTools: allowedTools.map(Set.init),
            images: images,
            content: blocks
        )
        let chosen = try services.agent.model(asked: model, kept: try await services.store.model(ofChat: chatID))
        do {
            try await services.turns.submit(
                turn,
                project: project,
                model: chosen,
                device: command.deviceId,
                id: id
            )
        } catch let refusal as HostError {
            // Nothing has begun. After any other error the turn may run, so the command has to stay stored.
            try await ledger.forget(command, refunding: usage, draft: wasDraft.withLockedValue { $0 } ? chatID : nil)
            throw Self.describingRefusal(refusal)
        }
        return outcome
    }

    /// Ends a turn.
    func cancel(
        turnID: String,
        chatID: String,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        try await ledger.noting(command, digest: digest, permission: .chatSend) {
            guard let turn = try await services.turns.cancel(turnID: turnID, chatID: chatID) else {
                throw HostError.turnUnknown
            }
            return try CanonicalJSON(encoding: turn)
        }
    }

    /// Removes a session's working tree.
    func removeSession(
        chatID: String,
        isForced: Bool,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        try await ledger.noting(command, digest: digest, permission: .sessionCreate) {
            let place = try await services.worktrees.remove(
                chat: chatID,
                isForced: isForced,
                by: command.deviceId,
                command: command.commandId
            )
            return try CanonicalJSON(encoding: WorktreeResponse(session: place))
        }
    }

    /// Answers a question of the agent.
    func decide(
        _ approvalID: String,
        with answer: ApprovalAnswer,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        let decided = NIOLockedValueBox<Approval?>(nil)
        return try await ledger.once(command, digest: digest, permission: .approve) { database in
            let person = QuestionDecider(try services.gate.activeDevice(command.deviceId).companionDevice)
            let question = try services.questions.decide(approvalID, with: answer, by: person, in: database)
            decided.withLockedValue { $0 = question }
            return try CanonicalJSON(encoding: question.withoutArguments)
        } committed: {
            if let question = decided.withLockedValue(\.self) { services.questions.settle(question) }
        }
    }

    /// The answer to a command whose turn was refused.
    private static func describingRefusal(_ error: HostError) -> HostError {
        switch error.code {
        case .requestForbidden: return HostError(.permissionDenied, error.text)
        case .chatBusy: return HostError(.chatBusy, error.text, retryable: true)
        default: return error
        }
    }
}
