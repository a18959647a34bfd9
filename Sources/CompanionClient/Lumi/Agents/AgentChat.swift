import CompanionWire
package import FoundationEssentials
import NIOConcurrencyHelpers
package import Providers

/// Chats with the agents of a Lumi host: this machine asks the agent's provider itself, as the phone's app does, with
/// the agent's system prompt, model and temperature, and stores the chat: ``LumiConversations``. The Mac is not
/// asked.
package struct AgentChat: TurnRunning {
    package let takesImages = true
    package let endsWithReader = true

    private let store: LumiStore
    private let conversations: LumiConversations
    private let settings: ProviderSettings
    private let client: ProviderClient
    private let now: @Sendable () -> Date
    /// Chats that were made and have no message yet.
    private let made = NIOLockedValueBox<[UUID: LumiConversation]>([:])

    /// - Parameter now: The clock that messages are stamped by.
    package init(
        store: LumiStore,
        conversations: LumiConversations,
        settings: ProviderSettings,
        client: ProviderClient,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.conversations = conversations
        self.settings = settings
        self.client = client
        self.now = now
    }

    /// Makes a chat with the agent whose project it is. It is kept once something was said.
    ///
    /// - Throws: ``ProviderError/Code/noAgent``.
    package func makeChat(projectID: String, title: String) async throws -> String {
        let id = UUID()
        let agentID = UUID(uuidString: projectID)
        guard let agent = try store.loadAgents()?.items.first(where: { $0.id == agentID }) else {
            throw ProviderError(.noAgent, provider: nil, message: "There is no agent to start a chat with.")
        }
        let conversation = LumiConversation(id: id, title: title, participantIds: [agent.id], createdAt: now())
        made.withLockedValue { $0[id] = conversation }
        return LumiStore.id(id)
    }

    /// Asks the agent's provider, once. Ending the reading ends the answer; what came of it is kept.
    ///
    /// Throws ``ProviderError``, ``LumiStoreError``, `HistoryError` and ``ProviderKeyStoreError``. A prompt that got no
    /// answer is not kept.
    package func turn(chatID: String, request: TurnRequest) -> TurnEvents {
        TurnEvents { emit in emit(.finished(try await run(chatID: chatID, request: request, emit))) }
    }

    private func run(
        chatID: String,
        request: TurnRequest,
        _ show: (TurnEvent) -> Void
    ) async throws -> FinishedTurn {
        let (conversation, agent) = try await find(chatID, path: request.projectPath)
        guard let provider = Provider(named: agent.configuration.provider) else {
            throw ProviderError(
                .unknownProvider,
                provider: nil,
                message: "pairtool does not know the agent's provider, “\(agent.configuration.provider)”."
            )
        }
        let endpoint = try settings.endpoint(for: provider)
        let model = request.model.flatMap { $0.isEmpty ? nil : $0 } ?? agent.configuration.model
        for image in request.images { try PictureFile.check(image, for: provider) }
        let prompt = ProviderPrompt(
            model: model,
            system: agent.configuration.systemPrompt,
            temperature: agent.configuration.temperature,
            maxTokens: agent.configuration.maxTokens,
            messages: PromptHistory.messages(of: conversation, then: request)
        )
        var record = TurnRecord(request, agent: agent.id, at: now())
        var usage: TurnUsage?
        var ending = ProviderEvent.Reason.complete
        do {
            try await client.answer(prompt, from: endpoint) { event in
                switch event {
                case .text(let text):
                    record.answer += text
                    show(.text(text))
                case .usage(let input, let output):
                    let input = input ?? usage?.inputTokens
                    let output = output ?? usage?.outputTokens
                    usage = TurnUsage(
                        inputTokens: input,
                        outputTokens: output,
                        totalTokens: input == nil || output == nil ? nil : TurnUsage.sum(input, output),
                        model: model
                    )
                case .finished(let reason): ending = reason
                // It is given no tools, and what it thinks is shown by no chat of a Mac's agent.
                case .thought, .toolCall: break
                }
            }
            if let error = failure(of: record.answer, ending: ending, from: provider) { throw error }
        } catch {
            // Best effort: another error is on its way to the user.
            if !record.answer.isEmpty {
                try? await conversations.append(record.messages(isWhole: false, at: now()), to: conversation)
            }
            throw error
        }
        let answer = record.answer
        try await conversations.append(record.messages(isWhole: true, at: now()), to: conversation)
        made.withLockedValue { $0[conversation.id] = nil }
        if let usage { show(.usage(usage)) }
        if ending == .length { show(.status("The answer ends at the model's token limit.")) }
        return FinishedTurn(answer: answer, usage: usage, wasRecovered: false)
    }

    /// The error of an answer that came to its end, and is none or only a part of one; nil for others.
    private func failure(
        of answer: String,
        ending: ProviderEvent.Reason,
        from provider: Provider
    ) -> ProviderError? {
        let name = provider.displayName
        switch ending {
        case .blocked where answer.isEmpty:
            return ProviderError(.blocked, provider: provider, message: "\(name)'s content filter blocked the answer.")
        case .blocked:
            return ProviderError(
                .blocked,
                provider: provider,
                message: "\(name)'s content filter blocked the rest of the answer."
            )
        case .length where answer.isEmpty:
            return ProviderError(
                .noAnswer,
                provider: provider,
                message: "The model reached its token limit before it answered. Nothing was kept."
            )
        case .complete where answer.isEmpty:
            return ProviderError(
                .noAnswer,
                provider: provider,
                message: "The model returned an empty answer. Nothing was kept."
            )
        case .complete, .length: return nil
        }
    }

    /// The conversation, and the agent that answers in it: the first of its agents that is still there.
    private func find(_ chatID: String, path: String?) async throws -> (LumiConversation, LumiAgent) {
        let agents = try store.loadAgents()?.items ?? []
        let id = UUID(uuidString: chatID)
        var known: LumiConversation?
        if let id { known = try await conversations.conversation(id) ?? made.withLockedValue { $0[id] } }
        for participant in known?.participantIds ?? [] {
            if let known, let agent = agents.first(where: { $0.id == participant }) { return (known, agent) }
        }
        let agentID = LumiStore.agentID(path: path)
        guard let agent = agents.first(where: { $0.id == agentID }) else {
            throw ProviderError(.noAgent, provider: nil, message: "None of that chat's agents exists any more.")
        }
        let new = LumiConversation(id: id ?? UUID(), participantIds: [agent.id], createdAt: now())
        return (known ?? new, agent)
    }
}

extension AgentChat: HistoryKeeping {
    var keepsChats: Bool { true }

    func keeping(in recorder: HistoryRecorder) -> HostClient {
        HostClient(isLocal: true, projects: conversations, chats: conversations, turns: self)
    }
}
