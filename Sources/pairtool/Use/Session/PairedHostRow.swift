import CompanionWire
import FoundationEssentials
import Identity

/// A paired host in JSON.
struct PairedHostRow: Encodable {
    var id: String
    var name: String
    var family: HostFamily
    var trust: HostTrust
    var endpoint: CompanionEndpoint
    var deviceID: String
    var pairedAt: Date
    var lastSeenAt: Date?
    var revokedAt: Date?
    var isDefault: Bool
    var spki: String?
    var permissions: [CompanionPermission]?
    /// Only for a Jarvis daemon.
    var fallbackURL: String?

    init(_ host: PairedHost, isDefault: Bool) {
        id = host.id
        name = host.name
        family = host.family
        trust = host.trust
        endpoint = host.endpoint
        deviceID = host.deviceID
        pairedAt = host.pairedAt
        lastSeenAt = host.lastSeenAt
        revokedAt = host.revokedAt
        self.isDefault = isDefault
        spki = host.spki
        permissions = host.permissions
        fallbackURL = host.fallbackURL
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, family, trust, address, port, deviceId, pairedAt, lastSeenAt, revokedAt, isDefault, spki,
            permissions,
            fallbackUrl
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(family, forKey: .family)
        try container.encode(trust, forKey: .trust)
        try container.encode(endpoint.address, forKey: .address)
        try container.encode(endpoint.port, forKey: .port)
        try container.encode(deviceID, forKey: .deviceId)
        try container.encode(pairedAt, forKey: .pairedAt)
        try container.encodeIfPresent(lastSeenAt, forKey: .lastSeenAt)
        try container.encodeIfPresent(revokedAt, forKey: .revokedAt)
        try container.encode(isDefault, forKey: .isDefault)
        try container.encodeIfPresent(spki, forKey: .spki)
        try container.encodeIfPresent(permissions, forKey: .permissions)
        try container.encodeIfPresent(fallbackURL, forKey: .fallbackUrl)
    }
}
