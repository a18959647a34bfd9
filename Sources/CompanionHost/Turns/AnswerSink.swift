import CompanionWire
import NIOConcurrencyHelpers

/// Takes what an agent says, hands it on to the turn's readers and keeps the text to store.
struct AnswerSink: Sendable {
    /// Bytes of text that an answer may have.
    static let maximumSize = 8 << 20

    private struct State {
        var text = ""
        var isClosed = false
        var frames = AgentFrames()
        var lastActivity = ContinuousClock.now
        /// Questions that wait for a person.
        var questions = 0
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
            for frame in state.frames.take(event) {
                if case .text(let text) = frame {
                    guard state.text.utf8.count + text.utf8.count <= Self.maximumSize else {
                        state.isClosed = true
                        return true
                    }
                    state.text += text
                }
                // Under the lock, so that frames and stored text have the same order.
                publish(frame)
            }
            return false
        }
        if isTooLong { overflow() }
    }

    /// How long the agent has been silent. While it waits for a person, it is not.
    var silence: Duration {
        state.withLockedValue { $0.questions > 0 ? .zero : .now - $0.lastActivity }
    }

    /// Runs what waits for a person.
    func waiting<Value: Sendable>(_ body: () async -> Value) async -> Value {
        state.withLockedValue { $0.questions += 1 }
        let value = await body()
        state.withLockedValue { state in
            state.questions -= 1
            state.lastActivity = .now
        }
        return value
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
