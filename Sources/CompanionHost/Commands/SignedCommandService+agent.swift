import CompanionWire

extension SignedCommandService {
    /// Opens the session of a chat's agent.
    func openAgent(
        chatID: String,
        model: String?,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        try await ledger.noting(command, digest: digest, permission: .chatSend) {
            try await services.chats.prepare(chatID)
            guard let projectID = try await services.store.projectID(ofChat: chatID),
                let project = services.store.catalog.project(id: projectID)
            else { throw HostError(.requestNotFound, "Unknown chat") }
            let chosen = try services.agent.model(asked: model, kept: try await services.store.model(ofChat: chatID))
            let agent = services.agent.member(answering: chosen ?? "")
            guard agent.isAvailable() else { throw HostError.agentUnavailable }
            if let chosen { try await services.store.choose(model: chosen, inChat: chatID) }
            let stored = try await services.store.agentSession(ofChat: chatID)
            var turn = AgentTurn(chatID: chatID, prompt: "", directory: stored?.directory ?? project.path)
            (turn.project, turn.model) = (project.path, chosen ?? "")
            var facts: JSONValue?
            // A working tree is made for the first prompt.
            if stored != nil || !services.configuration.usesWorktrees {
                let opened = try await Self.asking {
                    try await services.turns.pausing(chatID: chatID) { [turn] in try await agent.open(turn) }
                }
                facts = if let opened { opened } else { agent.facts(ofChat: chatID) }
            }
            let members: [String: JSONValue?] = [
                "directory": .string(turn.directory),
                "turnId": services.turns.runningTurn(chatID: chatID).map { .string($0) },
                // As text: it may have fractions.
                "agent": facts.map { .string(String(decoding: $0.json, as: UTF8.self)) },
            ]
            return try CanonicalJSON(.object(members.compactMapValues(\.self)))
        }
    }

    /// Changes the settings of the session of a chat's agent.
    func configureAgent(
        chatID: String,
        method: String,
        parameters: String,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        guard let setting = JSONValue(lenient: Array(parameters.utf8)), setting.isObject else {
            throw HostError(.requestInvalid, "parameters is not JSON with an object")
        }
        let model = try await services.store.model(ofChat: chatID)
        let agent = services.agent.member(answering: model ?? services.agent.models.first?.id ?? "")
        // Whoever decides how freely the agent works could answer its questions as well.
        let isMode = agent.changesMode(ofChat: chatID, method: method, parameters: setting)
        return try await ledger.noting(command, digest: digest, permission: isMode ? .approve : .chatSend) {
            let answer = try await Self.asking {
                try await agent.configure(chat: chatID, method: method, parameters: setting)
            }
            if isMode { try await note(setting, ofChat: chatID, by: command.deviceId) }
            return try CanonicalJSON(["answer": .string(String(decoding: answer.json, as: UTF8.self))])
        }
    }

    /// Writes down that a device has set how freely an agent works.
    private func note(_ setting: JSONValue, ofChat chatID: String, by device: String) async throws {
        let value = setting["modeId"] ?? setting["value"] ?? .null
        let detail: JSONValue = [
            "chat": .string(chatID), "setting": .string(setting["configId"]?.string ?? "mode"),
            "value": .string(value.string ?? String(decoding: value.json, as: UTF8.self)),
        ]
        let now = services.clock.now()
        try await ledger.database.write { database in
            try AuditLog.append(.agentConfigured, device: device, detail: detail, at: now, in: database)
        }
    }

    /// Asks an agent, whose refusals devices get as the host's.
    private static func asking<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as AgentError {
            throw HostError(error.code ?? .requestInvalid, error.message)
        }
    }
}
