package import FoundationEssentials

/// A row of the audit.
package struct AuditRow: Codable, Sendable, Hashable {
    /// The row's number: from 1, without gaps.
    package var number: Int
    /// The time of the event.
    package var at: Date
    /// The kind of event, such as `device.paired`; those of other versions are shown as they are.
    package var kind: String
    /// The device's id, where one is concerned.
    package var device: String?
    /// More about it, as a JSON object: addresses, methods, permissions. Never a secret.
    package var detail: JSONValue

    package init(number: Int, at: Date, kind: String, device: String?, detail: JSONValue) {
        self.number = number
        self.at = at
        self.kind = kind
        self.device = device
        self.detail = detail
    }
}

/// The result of a check of the audit.
package struct AuditVerdict: Codable, Sendable, Hashable {
    /// The number of intact rows: all of them, or those before the first that is not.
    package var rows: Int
    /// The first row that was changed, is missing or does not follow the one before; nil for an intact audit.
    package var brokenAt: Int?

    package init(rows: Int, brokenAt: Int?) {
        self.rows = rows
        self.brokenAt = brokenAt
    }

    /// Whether every row is as it was written.
    package var isIntact: Bool { brokenAt == nil }
}
