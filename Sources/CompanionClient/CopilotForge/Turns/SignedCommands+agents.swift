package import CompanionWire

extension SignedCommands: AgentOpening {
    private struct Opened: Decodable {
        var directory: String?
        var projectId: String?
        var agent: String?
        var turnId: String?
    }

    private struct Configured: Decodable {
        var answer: String
    }

    package func createDraft(projectID: String) async throws -> CompanionChat {
        try await client.result(of: .chatCreate(projectID: projectID, title: nil, isDraft: true))
    }

    package func openAgent(chatID: String, model: String?) async throws -> OpenedAgent {
        let opened: Opened = try await client.result(of: .agentOpen(chatID: chatID, model: model))
        return OpenedAgent(
            directory: opened.directory,
            projectID: opened.projectId,
            facts: opened.agent.flatMap { JSONValue(lenient: Array($0.utf8)) },
            turnID: opened.turnId
        )
    }

    package func follow(turnID: String, inChat chatID: String) -> TurnEvents {
        TurnEvents { emit in
            let turn = try FollowedTurn(
                client: client,
                chatID: chatID,
                turnID: turnID,
                hasACP: true,
                clock: client.clock
            )
            for try await event in turn { emit(event) }
        }
    }

    package func configureAgent(chatID: String, method: String, parameters: JSONValue) async throws -> JSONValue {
        let text = String(decoding: parameters.json, as: UTF8.self)
        let configured: Configured = try await client.result(
            of: .agentConfigure(chatID: chatID, method: method, parameters: text)
        )
        return JSONValue(lenient: Array(configured.answer.utf8)) ?? [:]
    }
}
