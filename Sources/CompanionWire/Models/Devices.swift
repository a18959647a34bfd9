package import FoundationEssentials

/// A device that has paired with a host.
package struct CompanionDevice: Codable, Sendable, Hashable, Identifiable {
    /// First 16 hex digits of SHA-256 over the device's public key text.
    package var id: String
    package var name: String
    package var pairedAt: Date?
    package var lastSeenAt: Date?

    package init(id: String, name: String, pairedAt: Date?, lastSeenAt: Date?) {
        self.id = id
        self.name = name
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
    }

    /// Only the id has to be there: what can be revoked is to be listed, whatever else is wrong with it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = (try? container.decodeIfPresent(String.self, forKey: .name)) ?? ""
        pairedAt = try? container.decodeIfPresent(Date.self, forKey: .pairedAt)
        lastSeenAt = try? container.decodeIfPresent(Date.self, forKey: .lastSeenAt)
    }
}

/// The answer of `GET /companion/devices`.
package struct DevicesListResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    package var devices: LossyArray<CompanionDevice>

    package init(devices: [CompanionDevice]) {
        self.ok = true
        self.devices = LossyArray(devices)
    }
}
