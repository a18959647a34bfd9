package import FoundationEssentials

/// The restrictions of a search; nil means no restriction.
package struct SearchScope: Sendable, Hashable {
    /// Ids of hosts.
    package var hosts: [String]?
    /// A project's id, the beginning of its id (four characters or more), its name or its path.
    package var project: String?
    /// The time from which on to search, itself included.
    package var since: Date?
    /// The role of the messages to find, such as `user`. Titles and tools have none, and are left out then.
    package var role: String?
    /// The most hits.
    package var limit: Int

    package init(
        hosts: [String]? = nil,
        project: String? = nil,
        since: Date? = nil,
        role: String? = nil,
        limit: Int = 20
    ) {
        (self.hosts, self.project, self.since, self.role, self.limit) = (hosts, project, since, role, limit)
    }

    /// Whether nothing is left out.
    var isEverything: Bool { hosts == nil && project == nil && since == nil && role == nil }
}

/// A message, tool or title of a chat that was searched for.
package struct SearchHit: Sendable, Hashable {
    package enum Kind: String, Codable, Sendable, Hashable {
        case chat, message, tool
    }

    /// A part of the text, on one line.
    package struct Piece: Sendable, Hashable {
        package var text: String
        /// Whether the search matched this part.
        package var isMatch: Bool
    }

    package var kind: Kind
    package var host: HistoryHost
    package var chatID: String
    package var chatTitle: String
    package var projectID: String
    /// nil if the project was never listed.
    package var projectName: String?
    /// The message; for a tool, that of the prompt. nil for a title.
    package var messageID: String?
    /// The role of the message; nil for a title or a tool.
    package var role: String?
    package var createdAt: Date?
    /// The part of the text around the matches.
    package var excerpt: [Piece]
}

extension [SearchHit.Piece] {
    /// The pieces of a text in which matches stand between two marks.
    init(marked text: String) {
        self = []
        var (part, isMatch) = (String.UnicodeScalarView(), false)
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }
        for scalar in text.unicodeScalars {
            switch scalar {
            case Self.open, Self.close:
                if !part.isEmpty { append(SearchHit.Piece(text: String(part), isMatch: isMatch)) }
                (part, isMatch) = (.init(), scalar == Self.open)
            case _ where isBlank(scalar):
                if let last = part.last.map(isBlank) ?? self.last?.text.unicodeScalars.last.map(isBlank), last {
                    continue
                }
                part.append(" ")
            default: part.append(scalar)
            }
        }
        if !part.isEmpty { append(SearchHit.Piece(text: String(part), isMatch: isMatch)) }
    }

    /// Marks that terminals do not show, should a text have them.
    static var open: Unicode.Scalar { "\u{2}" }
    static var close: Unicode.Scalar { "\u{3}" }
}
