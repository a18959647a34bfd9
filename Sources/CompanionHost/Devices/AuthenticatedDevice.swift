package import CompanionWire
package import FoundationEssentials

/// The device that a request belongs to, with its permissions.
package struct AuthenticatedDevice: Sendable, Hashable {
    /// First 16 hex digits of SHA-256 over the device's public key text.
    package var id: String
    package var name: String
    /// The actions that it may take besides reading, as of the time of the request.
    package var permissions: [CompanionPermission]
    /// When the device's access ends; nil without end.
    package var expiresAt: Date?
    /// When the session that the request came with ends; nil for a device of v1.
    package var sessionEnd: Date?
    /// 1 for a device of v1, 2 for one with a session.
    package var protocolVersion: Int
    /// The access that the request came with. It grows when sessions of the device are ended, so that streams and turns
    /// of earlier ones can be told apart.
    package var epoch: UInt64

    init(_ device: PairedDevice, sessionEnd: Date? = nil, protocolVersion: Int, epoch: UInt64) {
        id = device.id
        name = device.name
        permissions = device.granted
        expiresAt = device.expiresAt
        self.sessionEnd = sessionEnd
        self.protocolVersion = protocolVersion
        self.epoch = epoch
    }
}
