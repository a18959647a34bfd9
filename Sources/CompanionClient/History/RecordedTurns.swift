import CompanionWire
import FoundationEssentials
import History

struct RecordedTurns: TurnRunning {
    let base: any TurnRunning
    let recorder: HistoryRecorder

    var takesImages: Bool { base.takesImages }
    var endsWithReader: Bool { base.endsWithReader }

    func requireOwnPlace() async throws {
        try await base.requireOwnPlace()
    }

    func waitForEarlierTurn(
        chatID: String,
        begun: Date,
        waits: Bool,
        say: @Sendable (String) -> Void
    ) async throws -> Bool {
        try await base.waitForEarlierTurn(chatID: chatID, begun: begun, waits: waits, say: say)
    }

    func makeChat(projectID: String, title: String) async throws -> String {
        let id = try await base.makeChat(projectID: projectID, title: title)
        await recorder.keep(
            chat: CompanionChat(id: id, projectId: projectID, title: title, lastUpdatedAt: recorder.now())
        )
        return id
    }

    func turn(chatID: String, request: TurnRequest) -> TurnEvents {
        recorded(chatID, request: request, outputs: base.turn(chatID: chatID, request: request))
    }

    func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents {
        recorded(chatID, request: request, outputs: base.turn(chatID: chatID, request: request, journal: journal))
    }

    private func recorded(_ chatID: String, request: TurnRequest, outputs: TurnEvents) -> TurnEvents {
        TurnEvents { emit in
            var record = TurnHistory(chatID: chatID, prompt: request.prompt, recorder: recorder)
            do {
                for try await output in outputs {
                    emit(output)
                    await record.take(output)
                }
            } catch {
                await record.end()
                throw error
            }
            await record.end()
        }
    }
}

/// Writes down one turn.
private struct TurnHistory {
    let chatID: String
    let prompt: String
    let recorder: HistoryRecorder
    /// The prompt in the history, once the host has it.
    private var message: MessageKey?
    private var answer = ""
    private var hasEnded = false

    init(chatID: String, prompt: String, recorder: HistoryRecorder) {
        (self.chatID, self.prompt, self.recorder) = (chatID, prompt, recorder)
    }

    mutating func take(_ event: TurnEvent) async {
        switch event {
        case .begun: await begin()
        case .text(let text):
            await begin()
            answer += text
        case .toolStart, .toolComplete:
            await begin()
            if let tool = HistoryTool(event, at: recorder.now()) { await keep(tool) }
        case .finished(let summary):
            await begin()
            answer = summary.answer
            await end(interrupted: false)
        default: return
        }
    }

    /// Writes down the beginning of an answer whose end did not come.
    mutating func end() async {
        if !answer.isEmpty { await end(interrupted: true) }
    }

    private mutating func begin() async {
        guard message == nil else { return }
        message =
            await recorder.history.use { store throws(HistoryError) in
                try await store.keepPrompt(prompt, chatID: chatID, of: recorder.host, at: recorder.now())
            } ?? nil
    }

    private func keep(_ tool: HistoryTool) async {
        guard let message else { return }
        await recorder.history.use { store throws(HistoryError) in try await store.keepTool(tool, of: message) }
    }

    private mutating func end(interrupted: Bool) async {
        guard let message, !hasEnded else { return }
        hasEnded = true
        let answer = answer
        await recorder.history.use { store throws(HistoryError) in
            try await store.keepAnswer(answer, to: message, interrupted: interrupted, at: recorder.now())
        }
    }
}

extension HistoryTool {
    /// The tool that an event of a turn is about; nil for others.
    init?(_ event: TurnEvent, at date: Date) {
        switch event {
        case .toolStart(let name, let id): self.init(id: id ?? name, name: name, success: nil, at: date)
        case .toolComplete(let name, let id, let success, let details):
            self.init(id: id ?? name, name: name, detail: details ?? "", success: success, at: date)
        default: return nil
        }
    }
}
