import FoundationEssentials
import NIOConcurrencyHelpers

/// What is said in a turn, kept once: whole, or as far as it came when it was broken off.
final class TurnRecord: Sendable {
    private struct State {
        var conversation: LumiConversation?
        var prompt: LumiMessage?
        var agent: UUID?
        var answer = ""
        var isKept = false
    }

    private let store: LumiStore
    private let now: @Sendable () -> Date
    private let state = NIOLockedValueBox(State())

    init(store: LumiStore, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.now = now
    }

    var answer: String { state.withLockedValue(\.answer) }

    func begin(_ conversation: LumiConversation, prompt: TurnRequest, agent: UUID) {
        let message = LumiMessage(
            id: UUID(),
            role: "user",
            content: prompt.prompt,
            timestamp: now(),
            imageData: prompt.images.first.map { Data($0.bytes) }
        )
        state.withLockedValue { state in
            state.conversation = conversation
            state.prompt = message
            state.agent = agent
        }
    }

    func add(_ text: String) {
        state.withLockedValue { $0.answer += text }
    }

    func keepWhole() throws {
        try keep(isWhole: true)
    }

    /// Keeps what came of an answer; nothing where nothing came. Best effort: another error is on its way to the user.
    func keepPart() {
        try? keep(isWhole: false)
    }

    private func keep(isWhole: Bool) throws {
        let taken: State? = state.withLockedValue { state in
            guard !state.isKept, isWhole || !state.answer.isEmpty else { return nil }
            state.isKept = true
            return state
        }
        guard let taken, let conversation = taken.conversation, let prompt = taken.prompt else { return }
        let answer = LumiMessage(
            id: UUID(),
            role: "agent",
            content: taken.answer,
            agentId: taken.agent,
            timestamp: now(),
            isStreaming: !isWhole
        )
        try store.append([prompt, answer], to: conversation)
    }
}
