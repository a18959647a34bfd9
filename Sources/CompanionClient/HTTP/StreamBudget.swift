import CompanionWire
import NIOConcurrencyHelpers

/// The amount that an answer may still send, over all of its connections. Without it, a host that sends without end
/// would be read for ever and could fill the memory.
final class StreamBudget: Sendable {
    private struct State {
        var bytes: Int
        var text: Int
        var frames: Int
    }

    private let state: NIOLockedValueBox<State>

    init(_ limits: CompanionClientConfiguration.Limits) {
        state = NIOLockedValueBox(State(bytes: limits.answer, text: limits.text, frames: limits.frames))
    }

    /// - Returns: Whether so many bytes more may come.
    func takes(bytes: Int) -> Bool {
        state.withLockedValue { state in
            state.bytes -= bytes
            return state.bytes >= 0
        }
    }

    /// - Returns: Whether one frame more may come.
    func takesFrame() -> Bool {
        state.withLockedValue { state in
            state.frames -= 1
            return state.frames >= 0
        }
    }

    /// - Returns: Whether another event may come. Texts are counted by their bytes.
    func takes(_ event: TurnEvent) -> Bool {
        guard case .text(let text) = event, !text.isEmpty else { return takesFrame() }
        return state.withLockedValue { state in
            state.text -= text.utf8.count
            return state.text >= 0
        }
    }
}
