import CompanionWire

/// The id of a request for approval: a UUID, kept in the case in which it came, for the daemon compares letter by
/// letter.
package struct JarvisApprovalID: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// Nil for text that is not a UUID of five groups: such an id is never put into a path.
    package init?(_ text: String) {
        let groups = text.parts("-", omittingEmpty: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isHexDigit } })
        else { return nil }
        description = text
    }

    /// The same id in upper case, as daemons write them.
    package var uppercased: JarvisApprovalID { JarvisApprovalID(description.uppercased()) ?? self }
}

extension JarvisApprovalID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = JarvisApprovalID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
