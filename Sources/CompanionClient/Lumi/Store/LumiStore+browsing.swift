package import CompanionWire
package import FoundationEssentials
import History

/// A conversation as it is shown.
extension LumiStore {
    /// The id of the project for conversations without a known agent.
    package static let otherProjectID = "lumi"
    static let pathPrefix = "agent:"

    /// The agent that a project's path names; nil for other paths.
    package static func agentID(path: String?) -> UUID? {
        guard let path, path.begins(with: pathPrefix) else { return nil }
        return UUID(uuidString: String(path.dropFirst(pathPrefix.count)))
    }

    /// As it is shown and typed: in lower case.
    package static func id(_ id: UUID) -> String { id.uuidString.lowercased() }

    /// Returns a message as it is shown, with marks for a picture and for an answer that broke off.
    package static func message(_ message: LumiMessage) -> CompanionMessage {
        CompanionMessage(
            id: id(message.id),
            role: message.role == "agent" ? .assistant : CompanionMessage.Role(rawValue: message.role),
            text: KeptChat.marked(
                message.content,
                picture: message.imageData != nil,
                brokenOff: message.isStreaming
            ),
            createdAt: message.timestamp
        )
    }
}

extension LumiConversation {
    /// The title, or else the beginning of what was said first.
    package var displayTitle: String {
        if let title, !title.isEmpty { return title }
        let first = messages.first { $0.isFromUser } ?? messages.first
        let newlines: Set<Unicode.Scalar> = ["\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
        let lines = first?.content.unicodeScalars.split(whereSeparator: newlines.contains)
        return lines?.first.map { String($0).scalars(atMost: 60) } ?? "Conversation"
    }
}
