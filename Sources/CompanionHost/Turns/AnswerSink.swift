import CompanionWire
import NIOConcurrencyHelpers

/// Takes what an agent says, hands it on to the turn's readers and keeps the text to store.
struct AnswerSink: Sendable {
    /// Bytes of text that an answer may have.
    static let maximumSize = 8 << 20

    private struct State {
        var text = ""
        var isClosed = false
        var lastActivity = ContinuousClock.now
    }

    private let state = NIOLockedValueBox(State())
    private let publish: @Sendable (ContinueChatEvent) -> Void
    /// Called when the answer gets too long.
    private let overflow: @Sendable () -> Void

    init(
        publish: @escaping @Sendable (ContinueChatEvent) -> Void,
        overflow: @escaping @Sendable () -> Void
    ) {
        self.publish = publish
        self.overflow = overflow
    }

    /// Takes an event; dropped once the answer is closed.
    func emit(_ event: AgentEvent) {
        let isTooLong = state.withLockedValue { state in
            guard !state.isClosed else { return false }
            state.lastActivity = .now
            if case .text(let text) = event {
                guard state.text.utf8.count + text.utf8.count <= Self.maximumSize else {
                    state.isClosed = true
                    return true
                }
                state.text += text
            }
            // Under the lock, so that frames and stored text have the same order.
            publish(event.frame)
            return false
        }
        if isTooLong { overflow() }
    }

    /// How long the agent has been silent.
    var silence: Duration {
        state.withLockedValue { .now - $0.lastActivity }
    }

    /// Ends the answer.
    ///
    /// - Returns: Its text.
    func close() -> String {
        state.withLockedValue { state in
            state.isClosed = true
            return state.text
        }
    }
}

extension AgentEvent {
    var frame: ContinueChatEvent {
        switch self {
        case .status(let label): .status(label: label)
        case .text(let text): .text(text)
        case .toolStart(let name, let id): .toolStart(toolName: name, toolCallID: id)
        case .toolComplete(let name, let id, let success, let details):
            .toolComplete(toolName: name, toolCallID: id, success: success, details: details)
        }
    }
}
