package import CompanionClient
package import CompanionWire
import FoundationEssentials
package import Identity

extension WaitingPrompt {
    /// Whether it is another prompt for the same chat.
    package func isSameChat(as other: WaitingPrompt) -> Bool {
        !id.isSame(as: other.id) && !Set(chatKeys).isDisjoint(with: other.chatKeys)
    }

    /// The ids that tell its chat from others: the host's, or the one of a chat that the host has not created yet.
    /// Empty if neither is known.
    package var chatKeys: [ByteText] { [chat, newChatID?.uuidString].compactMap(\.self).map(ByteText.init) }

    /// Whether the program that sends it has to wait for the answer: because nobody else gets it, or to answer what the
    /// agent of a verified host asks.
    package func needsSender(at host: PairedHost) -> Bool {
        switch host.family.behavior.facts.queuing {
        case .none: false
        case .untilAnswered: true
        case .untilReceived: host.trust == .verified && (deniesQuestions || allowedTools?.isEmpty != true)
        }
    }

    /// The beginning of the prompt, for one line.
    package var excerpt: String {
        let line = TerminalText.line(prompt.trimmingWhitespace())
        let start = line.scalars(atMost: 60)
        return start.isSame(as: line) ? start : start + "…"
    }
}
