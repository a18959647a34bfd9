package import CompanionWire

/// The agents of a host. Each prompt goes to the one that has its model; the first is the default.
package struct AgentRoster: Agent {
    /// Not empty; no two have a model with the same id.
    private let members: [any Agent]

    /// - Throws: ``CompanionHostError/Code/agentNotFound`` for two with the same model.
    package init(_ members: [any Agent]) throws(CompanionHostError) {
        let ids = members.flatMap(\.models).map { ByteText($0.id) }
        if let twice = ids.first(where: { id in ids.count { $0 == id } > 1 }) {
            throw CompanionHostError(.agentNotFound, "The host would have two agents that are called \(twice.text).")
        }
        self.members = members
    }

    package var models: [CompanionModel] { members.flatMap(\.models) }

    package var changesFiles: Bool { members.contains(where: \.changesFiles) }

    package var turnLimit: Int { members.reduce(0) { $0 + $1.turnLimit } }

    package func isAvailable() -> Bool { members.contains { $0.isAvailable() } }

    package var states: [AdminAgent] { members.flatMap(\.states) }

    package func member(answering model: String) -> any Agent {
        members.first { $0.models.contains { $0.id.isSame(as: model) } } ?? members[0]
    }

    package func run() async {
        await withDiscardingTaskGroup { group in
            for member in members { group.addTask { await member.run() } }
        }
    }

    package var sessionSources: [any AgentSessionSource] { members.flatMap(\.sessionSources) }

    package func forget(chat: String) {
        for member in members { member.forget(chat: chat) }
    }

    package func silenceText(_ limit: Duration) -> String { members[0].silenceText(limit) }

    package func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws {
        try await member(answering: turn.model).answer(turn, conversation: conversation)
    }
}

extension Agent {
    /// The agent that has a model; nil if none has.
    func owner(of model: String) -> String? { models.first { $0.id.isSame(as: model) }?.owner }

    /// Whether a model takes pictures, as far as is known before it runs.
    func mayTakeImages(for model: String?) -> Bool {
        let known = models.first { model?.isSame(as: $0.id) ?? false }
        return known?.capabilities?.supports?.vision != false
    }

    /// The model that answers a prompt: a chat stays with its agent.
    ///
    /// - Parameters:
    ///   - asked: The one that the device asks for.
    ///   - kept: The one that answered in the chat last.
    /// - Returns: nil for a host without models, and for a model that it does not have.
    /// - Throws: ``HostError`` with `request.invalid` for a model of another agent.
    func model(asked: String?, kept: String?) throws(HostError) -> String? {
        guard let kept, let owner = owner(of: kept) else { return asked ?? models.first?.id }
        guard let asked, let other = self.owner(of: asked) else { return asked ?? kept }
        guard other.isSame(as: owner) else {
            throw HostError(
                .requestInvalid,
                "This chat goes on with \(name(of: kept)): begin a new one for \(name(of: asked))",
                variant: .textOnlyInV1
            )
        }
        return asked
    }

    private func name(of model: String) -> String { models.first { $0.id.isSame(as: model) }?.name ?? model }
}
