import CompanionWire
import NIOConcurrencyHelpers

/// What may still come of an answer, over all of its connections. A host that sends without an end is not read for ever,
/// and cannot fill the memory.
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
