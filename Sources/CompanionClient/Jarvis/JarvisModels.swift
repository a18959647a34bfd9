package import FoundationEssentials

/// The state of a request for approval. Daemons may use other words than these.
package struct JarvisApprovalStatus: RawRepresentable, Codable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Nobody has decided.
    package static let pending = JarvisApprovalStatus(rawValue: "pending")
    /// Somebody allowed it.
    package static let approved = JarvisApprovalStatus(rawValue: "approved")
    /// Somebody refused it.
    package static let rejected = JarvisApprovalStatus(rawValue: "rejected")

    package var description: String { rawValue }
}

/// A request for approval that nobody has decided. All texts are the requester's: hostile until they are sanitised.
package struct JarvisApproval: Codable, Sendable, Hashable, Identifiable {
    package var id: JarvisApprovalID
    /// The action that the requester wants to take.
    package var action: String
    /// The reason that the requester gives for it.
    package var reason: String
    package var requestedBy: String
    /// Nil where the daemon gives no time, or one that cannot be read.
    package var requestedAt: Date?
    package var status: JarvisApprovalStatus
    /// More about the request, by name. Numbers and truth values become text.
    package var details: [String: String]

    /// Only the id has to be there; what else is missing is empty, and more keys may come.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(JarvisApprovalID.self, forKey: .id)
        action = (try? container.decode(LenientText.self, forKey: .action))?.text ?? ""
        reason = (try? container.decode(LenientText.self, forKey: .reason))?.text ?? ""
        requestedBy = (try? container.decode(LenientText.self, forKey: .requestedBy))?.text ?? ""
        requestedAt = (try? container.decode(LenientDate.self, forKey: .requestedAt))?.date
        status = (try? container.decode(JarvisApprovalStatus.self, forKey: .status)) ?? .pending
        details = ((try? container.decode([String: LenientText].self, forKey: .details)) ?? [:]).compactMapValues(
            \.text
        )
    }
}

/// The daemon's view of one request, decided or not.
package struct JarvisApprovalState: Codable, Sendable, Hashable, Identifiable {
    package var id: JarvisApprovalID
    /// The action that the requester wanted to take; empty if the daemon does not tell.
    package var action: String
    package var status: JarvisApprovalStatus
    var requestedAt: Date?
    /// When it was decided.
    package var resolvedAt: Date?

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(JarvisApprovalID.self, forKey: .id)
        action = (try? container.decode(LenientText.self, forKey: .action))?.text ?? ""
        status = try container.decode(JarvisApprovalStatus.self, forKey: .status)
        requestedAt = (try? container.decode(LenientDate.self, forKey: .requestedAt))?.date
        resolvedAt = (try? container.decode(LenientDate.self, forKey: .resolvedAt))?.date
    }
}

/// The requests that wait for a decision, oldest first; those without a time come last.
package struct JarvisPending: Sendable, Hashable {
    /// The requests that could be read, in the daemon's order.
    package var approvals: [JarvisApproval]
    /// How many entries could not be read, for want of an id that is a UUID.
    package var unreadable: Int
}

/// The answer of `GET /health`.
package struct JarvisHealth: Codable, Sendable, Hashable {
    /// `healthy`, or another word if something is wrong.
    package var status: String
    /// The daemon's version; nil if it does not tell it.
    package var version: String?
    /// The daemon's time, as the daemon writes it.
    package var timestamp: String?

    /// False for every status but `healthy`.
    package var isHealthy: Bool { status == "healthy" }
}

/// The answer to a decision.
package struct JarvisReceipt: Codable, Sendable, Hashable {
    package var id: JarvisApprovalID
    package var status: JarvisApprovalStatus
    /// The daemon's text, if it sends one.
    package var message: String?
}

/// The body of a refusal: `{"error":true,"reason":"text"}`.
struct JarvisRefusal: Decodable {
    var reason: String
}

/// Text, or a number or truth value as text; nil for anything else.
private struct LenientText: Decodable {
    var text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text =
            if let text = try? container.decode(String.self) {
                text
            } else if let value = try? container.decode(Bool.self) {
                "\(value)"
            } else if let value = try? container.decode(Int64.self) {
                "\(value)"
            } else if let value = try? container.decode(Double.self) {
                "\(value)"
            } else {
                nil
            }
    }
}

private struct LenientDate: Decodable {
    var date: Date?

    init(from decoder: any Decoder) throws {
        date = JarvisTimestamp.date(from: try decoder.singleValueContainer().decode(String.self))
    }
}
