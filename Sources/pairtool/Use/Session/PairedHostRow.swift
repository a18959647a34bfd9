import CompanionWire
import FoundationEssentials
import Identity

/// A paired host in JSON.
struct PairedHostRow: Encodable {
    var id: String
    var name: String
    var family: HostFamily
    var trust: HostTrust
    /// Nil for a host that was never reached directly.
    var endpoint: CompanionEndpoint?
    /// The place where it was last reached, as messages name it.
    var place: String
    /// The rung on which it was last reached.
    var via: HostRoute.Rung
    var routes: [HostRoute]?
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
        endpoint = host.isFar == true ? nil : host.endpoint
        place = host.place
        via = host.rung
        routes = host.routes
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
        case id, name, family, trust, address, port, via, routes, deviceId, pairedAt, lastSeenAt, revokedAt, isDefault,
            spki,
            permissions,
            fallbackUrl
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(family, forKey: .family)
        try container.encode(trust, forKey: .trust)
        try container.encodeIfPresent(endpoint?.address, forKey: .address)
        try container.encodeIfPresent(endpoint?.port, forKey: .port)
        try container.encode(via, forKey: .via)
        try container.encodeIfPresent(routes, forKey: .routes)
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
