package import CompanionWire
package import FoundationEssentials

/// The lines of `pairtool export --format json`: each is a JSON object, and what it belongs to comes before it.
package enum HistoryArchive {
    /// The version of the format.
    package static let version = 1

    /// A line. Which fields it has depends on its type.
    package struct Line: Encodable, Sendable, Hashable {
        package enum Kind: String, Encodable, Sendable {
            /// The first line.
            case archive
            case host, project, chat, message, tool
        }

        package var type: Kind
        /// Of the first line alone.
        package var version: Int?
        package var exportedAt: Date?
        package var id: String?
        package var name: String?
        package var family: HostFamily?
        package var localPath: String?
        package var projectId: String?
        package var title: String?
        package var lastUpdatedAt: Date?
        /// When its messages were read last.
        package var readAt: Date?
        /// The place of a message in its chat, from 0. Gaps are messages that were never read.
        package var number: Int?
        package var role: String?
        package var text: String?
        package var createdAt: Date?
        package var interrupted: Bool?
        package var detail: String?
        package var success: Bool?
        package var at: Date?
        /// The ids of those who take part in a chat.
        package var participants: [String]?
        /// The participant who wrote a message.
        package var author: String?
        /// Base64.
        package var picture: String?
        /// Whether a message is kept nowhere but in histories.
        package var kept: Bool?

        package init(_ type: Kind) {
            self.type = type
        }
    }
}

/// A chat with what belongs to it, as it is exported.
package struct HistoryChat: Sendable, Hashable {
    package var host: HistoryHost
    package var project: CompanionProject?
    package var chat: CompanionChat
    /// When its messages were read last; nil if they never were.
    package var readAt: Date?
    /// How many messages are stored, and how many more the host is known to have.
    package var messages: Int
    package var unread: Int
    /// The ids of those who take part, if the host tells.
    package var participants: [String]
    package var createdAt: Date?
    let key: Int64
}

/// A stored message and the tools that ran for it.
package struct HistoryMessage: Sendable, Hashable {
    /// The place in the chat, from 0. Gaps are messages that were never read.
    package var number: Int
    package var message: CompanionMessage
    package var tools: [HistoryTool]
    /// The id of the participant who wrote it, if the host tells.
    package var author: String?
    package var picture: [UInt8]?
    /// Whether it is kept here alone.
    package var isKept: Bool

    /// The text, with the mark of a picture.
    var shownText: String { KeptChat.marked(message.text, picture: picture != nil) }
}

/// A host as the history names it.
package struct HistoryHost: Codable, Sendable, Hashable, Identifiable {
    /// The id of its record.
    package var id: String
    package var name: String
    package var family: HostFamily
    /// When it was paired; nil where that does not matter. Nothing of a pairing is written down once its host was
    /// forgotten (``HistoryStore/forget(hostID:pairedAt:)``).
    package var pairedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case id, name, family
    }

    package init(id: String, name: String, family: HostFamily, pairedAt: Date? = nil) {
        self.id = id
        self.name = name
        self.family = family
        self.pairedAt = pairedAt
    }
}

/// A value from the history, and when it came from the host.
package struct Known<Value: Sendable>: Sendable {
    package var value: Value
    /// When the host said so.
    package var asOf: Date
}
