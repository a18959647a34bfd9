package import FoundationEssentials

/// Something that a Mac's agent does by itself.
package struct LumiAutomation: Codable, Sendable, Hashable, Identifiable {
    /// The event that starts the automation. Only its type is read: its other members depend on that.
    package struct Trigger: Codable, Sendable, Hashable {
        package var type: String

        init(type: String) {
            self.type = type
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = container.lenient(.type) ?? "unknown"
        }
    }

    package var id: UUID
    package var title: String
    package var notes: String
    package var trigger: Trigger
    package var agentId: UUID?
    package var isEnabled: Bool
    package var lastRunAt: Date?
    package var createdAt: Date?
    package var updatedAt: Date?

    init(
        id: UUID,
        title: String,
        notes: String = "",
        trigger: Trigger,
        agentId: UUID? = nil,
        isEnabled: Bool = true,
        lastRunAt: Date? = nil,
        createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) {
        self.id = id
        self.title = title
        self.notes = notes
        self.trigger = trigger
        self.agentId = agentId
        self.isEnabled = isEnabled
        self.lastRunAt = lastRunAt
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        title = container.lenient(.title) ?? ""
        notes = container.lenient(.notes) ?? ""
        trigger = container.lenient(.trigger) ?? Trigger(type: "unknown")
        agentId = container.lenient(.agentId)
        isEnabled = container.lenient(.isEnabled) ?? false
        lastRunAt = container.lumiDate(.lastRunAt)
        createdAt = container.lumiDate(.createdAt)
        updatedAt = container.lumiDate(.updatedAt)
    }
}
