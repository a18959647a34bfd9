import CompanionWire
package import FoundationEssentials

/// A chat that has no host that answers for it: pulled as a whole, made here, or both.
package struct KeptChat: Sendable, Hashable {
    package var id: String
    package var projectID: String
    package var title: String
    /// The ids of those who take part. They have no space in them.
    package var participants: [String]
    /// Oldest first.
    package var messages: [KeptMessage]
    package var createdAt: Date?
    package var updatedAt: Date?

    package init(
        id: String,
        projectID: String,
        title: String,
        participants: [String],
        messages: [KeptMessage] = [],
        createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) {
        (self.id, self.projectID, self.title) = (id, projectID, title)
        (self.participants, self.messages) = (participants, messages)
        (self.createdAt, self.updatedAt) = (createdAt, updatedAt)
    }

    /// A message's text, with the marks of a picture and of an end that did not come.
    package static func marked(_ text: String, picture: Bool, brokenOff: Bool = false) -> String {
        text + (picture ? " [picture]" : "") + (brokenOff ? " [broken off]" : "")
    }

    static func participants(_ stored: String?) -> [String] {
        (stored ?? "").parts(" ").map { String($0) }
    }

    static func stored(_ participants: [String]) -> String { participants.joined(separator: " ").storable }
}

/// A message of such a chat.
package struct KeptMessage: Sendable, Hashable {
    package var id: String
    package var role: String
    package var text: String
    /// The id of the participant who wrote it.
    package var author: String?
    package var createdAt: Date?
    /// Whether its end did not come.
    package var interrupted: Bool
    package var picture: [UInt8]?

    package init(
        id: String,
        role: String,
        text: String,
        author: String? = nil,
        createdAt: Date? = nil,
        interrupted: Bool = false,
        picture: [UInt8]? = nil
    ) {
        (self.id, self.role, self.text, self.author) = (id, role, text, author)
        (self.createdAt, self.interrupted, self.picture) = (createdAt, interrupted, picture)
    }
}
