package import CompanionWire
package import FoundationEssentials

/// The lines of `pairtool export --format json`: each is a JSON object, and what it belongs to comes before it.
package enum HistoryArchive {
    /// The version of the format.
    package static let version = 1

    /// A line. Which fields it has depends on its type.
    package struct Line: Encodable, Sendable, Hashable {
        /// The types of lines; all but `archive` are named after what they describe.
        package enum Kind: String, Encodable, Sendable {
            /// The first line.
            case archive
            case host, project, chat, message, tool
        }

        /// The kind of the line.
        package var type: Kind
        /// Of the first line alone.
        package var version: Int?
        /// When the archive was written. Of the first line alone.
        package var exportedAt: Date?
        /// The id at the host; of a tool, that of its call.
        package var id: String?
        /// The name of a host, project or tool.
        package var name: String?
        /// Of a host.
        package var family: HostFamily?
        /// A project's directory at the host.
        package var localPath: String?
        /// The id of a chat's project.
        package var projectId: String?
        /// Of a chat.
        package var title: String?
        /// When a chat changed last, by the host's clock.
        package var lastUpdatedAt: Date?
        /// When its messages were read last.
        package var readAt: Date?
        /// The place of a message in its chat, from 0. Gaps are messages that were never read.
        package var number: Int?
        /// The role of a message's author, as the host names it.
        package var role: String?
        /// Of a message, as Markdown.
        package var text: String?
        /// When a chat or message was made; absent if the host does not tell.
        package var createdAt: Date?
        /// Whether an answer ended early.
        package var interrupted: Bool?
        /// A tool's words about its work.
        package var detail: String?
        /// Whether a tool did its work; absent if that is not known.
        package var success: Bool?
        /// When the last report of a tool came.
        package var at: Date?
        /// The ids of those who take part in a chat.
        package var participants: [String]?
        /// The participant who wrote a message.
        package var author: String?
        /// The picture of a message, in Base64.
        package var picture: String?
        /// Whether a message is kept nowhere but in histories.
        package var kept: Bool?

        /// A line without any field but its type.
        package init(_ type: Kind) {
            self.type = type
        }
    }
}

/// A chat with what belongs to it, as it is exported.
package struct HistoryChat: Sendable, Hashable {
    /// The host that has it.
    package var host: HistoryHost
    /// The project that it belongs to; nil if that is not known.
    package var project: CompanionProject?
    /// The chat as the host lists it.
    package var chat: CompanionChat
    /// When its messages were read last; nil if they never were.
    package var readAt: Date?
    /// How many messages are stored.
    package var messages: Int
    /// How many messages the host has besides, as far as is known.
    package var unread: Int
    /// The ids of those who take part, if the host tells.
    package var participants: [String]
    /// When it was made; nil if the host does not tell.
    package var createdAt: Date?
    let key: Int64
}

/// A stored message and the tools that ran for it.
package struct HistoryMessage: Sendable, Hashable {
    /// The place in the chat, from 0. Gaps are messages that were never read.
    package var number: Int
    /// The message with its author and time.
    package var message: CompanionMessage
    /// The tools that ran for it, in their order.
    package var tools: [HistoryTool]
    /// The id of the participant who wrote it, if the host tells.
    package var author: String?
    /// The file of its picture.
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
    /// The name under which it was paired.
    package var name: String
    /// The kind of the host.
    package var family: HostFamily
    /// When it was paired; nil where that does not matter. Nothing of a pairing is written down once its host was
    /// forgotten (``HistoryStore/forget(hostID:pairedAt:)``).
    package var pairedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case id, name, family
    }

    /// - Parameter pairedAt: Default: nil, for a name alone.
    package init(id: String, name: String, family: HostFamily, pairedAt: Date? = nil) {
        self.id = id
        self.name = name
        self.family = family
        self.pairedAt = pairedAt
    }
}

/// A value from the history, and when it came from the host.
package struct Known<Value: Sendable>: Sendable {
    /// The value as it was then.
    package var value: Value
    /// When the host said so.
    package var asOf: Date
}
