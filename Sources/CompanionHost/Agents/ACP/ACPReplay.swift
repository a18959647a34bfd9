import CompanionWire
import NIOConcurrencyHelpers

/// Collects what was said in a session while its agent loads it. Keeps the end of a conversation that is very long.
final class ACPReplay: Sendable {
    /// Bytes of one message, and of all.
    static let messageSize = 1 << 20
    static let size = 32 << 20
    /// Messages that are kept.
    static let most = 20_000

    fileprivate struct State {
        var messages: [ToldMessage] = []
        var size = 0
        /// The message that its last piece belongs to, in the agent's words; nil if it has no id.
        var id: ByteText?
        /// The role of the message that goes on; nil once something else came.
        var role: CompanionMessage.Role?
        var conversation = ACPConversation()
    }

    private let state = NIOLockedValueBox(State())

    /// The messages with a text, the oldest first.
    var messages: [ToldMessage] {
        state.withLockedValue { state in
            state.messages.map { ToldMessage($0.role, $0.text.trimmingWhitespace()) }.filter { !$0.text.isEmpty }
        }
    }

    /// - Parameter id: The id of the message that the update is a piece of.
    func take(_ update: ACPUpdate, id: String?) {
        state.withLockedValue { state in
            switch update {
            case .userMessage(let content):
                let isNext = state.role == .user && (id == nil || state.id == id.map { ByteText($0) })
                if !isNext {
                    // The next answer begins without a gap.
                    state.conversation = ACPConversation()
                    state.begin(.user)
                }
                state.id = id.map { ByteText($0) }
                // A picture is no part of what was typed.
                if case .media = content { return }
                state.add(content.text)
            default:
                for case .text(let text) in state.conversation.take(update) {
                    if state.role != .assistant { state.begin(.assistant) }
                    state.add(text)
                }
                if case .tool = update, state.role == .user { state.begin(.assistant) }
            }
        }
    }
}

extension ACPReplay.State {
    fileprivate mutating func begin(_ role: CompanionMessage.Role) {
        self.role = role
        messages.append(ToldMessage(role, ""))
        guard size > ACPReplay.size || messages.count > ACPReplay.most else { return }
        // A quarter at once, so that a long conversation is not moved for each message.
        let dropped = messages.count / 4
        size -= messages.prefix(dropped).reduce(0) { $0 + $1.text.utf8.count }
        messages.removeFirst(dropped)
    }

    fileprivate mutating func add(_ text: String) {
        guard let last = messages.indices.last else { return }
        let room = ACPReplay.messageSize - messages[last].text.utf8.count
        guard room > 0 else { return }
        let kept = CutText(text, atMost: room).marked
        messages[last].text += kept
        size += kept.utf8.count
    }
}
