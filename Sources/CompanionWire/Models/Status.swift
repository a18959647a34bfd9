package import FoundationEssentials

/// The device that a host names as connected, in ``CompanionStatusResponse``.
package struct ConnectedCompanionDevice: Codable, Sendable, Hashable {
    /// First 16 hex digits of SHA-256 over the device's public key text.
    package var id: String
    /// The device's name, as the device gave it: untrusted text.
    package var name: String
    /// The time since which the host counts the device as connected; nil if the host tells none.
    package var connectedAt: Date?
    /// The time of the device's last request; nil if the host tells none.
    package var lastSeenAt: Date?

    package init(id: String, name: String, connectedAt: Date?, lastSeenAt: Date?) {
        self.id = id
        self.name = name
        self.connectedAt = connectedAt
        self.lastSeenAt = lastSeenAt
    }
}

/// The answer of `GET /companion/status`, and of every request that changes a pairing.
///
/// `connected` says that *some* device is connected: compare `connectedDevice.id` with one's own.
package struct CompanionStatusResponse: Codable, Sendable, Hashable {
    package var ok: Bool
    /// Whether some device is connected, not necessarily the one that asks.
    package var connected: Bool
    /// The connected device; nil for none.
    package var connectedDevice: ConnectedCompanionDevice?
    /// The permissions of the device that asks; nil without a session of v2.
    package var permissions: [CompanionPermission]?
    /// The asking device; nil without a session of v2.
    package var device: CompanionDevice?
    /// When the asking device's pairing ends; nil where it does not, and without a session of v2.
    package var expiresAt: Date?

    package init(
        connectedDevice: ConnectedCompanionDevice?,
        permissions: [CompanionPermission]? = nil,
        device: CompanionDevice? = nil,
        expiresAt: Date? = nil
    ) {
        self.ok = true
        self.connected = connectedDevice != nil
        self.connectedDevice = connectedDevice
        self.permissions = permissions
        self.device = device
        self.expiresAt = expiresAt
    }

    /// Only `connected` has to be there.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ok = try container.decodeIfPresent(Bool.self, forKey: .ok) ?? true
        connected = try container.decode(Bool.self, forKey: .connected)
        connectedDevice = try? container.decodeIfPresent(ConnectedCompanionDevice.self, forKey: .connectedDevice)
        permissions = try? container.decodeIfPresent([CompanionPermission].self, forKey: .permissions)
        device = try? container.decodeIfPresent(CompanionDevice.self, forKey: .device)
        expiresAt = try? container.decodeIfPresent(Date.self, forKey: .expiresAt)
    }

    /// Writes the answer. A ``connectedDevice`` of nil becomes `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ok, forKey: .ok)
        try container.encode(connected, forKey: .connected)
        // Deployed hosts write `null`, not nothing.
        try container.encode(connectedDevice, forKey: .connectedDevice)
        try container.encodeIfPresent(permissions, forKey: .permissions)
        try container.encodeIfPresent(device, forKey: .device)
        try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    }

    private enum CodingKeys: String, CodingKey {
        case ok, connected, connectedDevice, permissions, device, expiresAt
    }
}
