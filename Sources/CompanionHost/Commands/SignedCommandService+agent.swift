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
            if let model, services.agent.owner(of: model) == nil { throw HostError(.requestInvalid, "Unknown model") }
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
                facts = try await Self.asking { [turn] in try await open(turn, of: agent) }
            }
            let members: [String: JSONValue?] = [
                "directory": .string(turn.directory), "projectId": .string(projectID),
                "turnId": services.turns.runningTurn(chatID: chatID).map { .string($0) },
                // As text: it may have fractions.
                "agent": facts.map { .string(String(decoding: $0.json, as: UTF8.self)) },
            ]
            return try CanonicalJSON(.object(members.compactMapValues(\.self)))
        }
    }

    /// How often, and how far apart, is looked whether somebody else has opened a session.
    private static let (mostLooks, look) = (80, Duration.milliseconds(100))

    /// Opens the session of a chat while no turn runs in it.
    ///
    /// - Returns: What the agent says of it, also where another device opens it just now, or a turn runs.
    private func open(_ turn: AgentTurn, of agent: any Agent) async throws -> JSONValue? {
        for _ in 0..<Self.mostLooks {
            let opened = try await services.turns.pausing(chatID: turn.chatID) { try await agent.open(turn) }
            if let opened { return opened }
            if let facts = agent.facts(ofChat: turn.chatID) { return facts }
            guard !services.turns.isBusy(chatID: turn.chatID) else { return nil }
            try await Task.sleep(for: Self.look)
        }
        return nil
    }

    /// Changes the settings of the session of a chat's agent.
    func configureAgent(
        chatID: String,
        method: String,
        parameters: String,
        command: SignedCommand,
        digest: [UInt8]
    ) async throws -> CommandLedger.Outcome {
        guard let setting = JSONValue(lenient: Array(parameters.utf8)).flatMap({ Self.setting($0, for: method) }) else {
            throw HostError(.requestInvalid, "parameters is not JSON with the members of this method")
        }
        let model = try await services.store.model(ofChat: chatID)
        let agent = services.agent.member(answering: model ?? services.agent.models.first?.id ?? "")
        guard agent.facts(ofChat: chatID) != nil else {
            throw HostError(.requestInvalid, "The agent has no open session in this chat")
        }
        // Whoever decides how freely the agent works could answer its questions as well.
        let leave = agent.leave(of: setting, ofChat: chatID)
        let permission: CompanionPermission = leave == .nothing ? .chatSend : .approve
        return try await ledger.noting(command, digest: digest, permission: permission) {
            guard leave != .lasting || services.configuration.devicesMayAlways else {
                throw HostError(
                    .permissionDenied,
                    "Only the host's owner may choose this setting: the agent may ask less with it. "
                        + "To let devices do it: pairtool host --always-by devices"
                )
            }
            let answer = try await Self.asking {
                try await agent.configure(chat: chatID, method: method, parameters: setting)
            }
            if leave != .nothing { try await note(setting, ofChat: chatID, by: command.deviceId) }
            return try CanonicalJSON(["answer": .string(String(decoding: answer.json, as: UTF8.self))])
        }
    }

    /// The members of a setting that agents know; nil where one is missing.
    private static func setting(_ given: JSONValue, for method: String) -> JSONValue? {
        guard method.isSame(as: ACPMessage.setOptionMethod) else {
            return given["modeId"]?.string.map { ["modeId": .string($0)] }
        }
        guard let id = given["configId"]?.string, let value = given["value"] else { return nil }
        var setting: [String: JSONValue] = ["configId": .string(id), "value": value]
        setting["type"] = given["type"]?.string.map { .string($0) }
        switch value {
        case .string, .bool: return .object(setting)
        default: return nil
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
