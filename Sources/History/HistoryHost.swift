package import CompanionWire
package import FoundationEssentials

/// A host as the history names it.
package struct HistoryHost: Codable, Sendable, Hashable, Identifiable {
    /// The id of its record.
    package var id: String
    package var name: String
    package var family: HostFamily

    package init(id: String, name: String, family: HostFamily) {
        self.id = id
        self.name = name
        self.family = family
    }
}

/// What the history knows, and since when.
package struct Known<Value: Sendable>: Sendable {
    package var value: Value
    /// When the host said so.
    package var asOf: Date
}
