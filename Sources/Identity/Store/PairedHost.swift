package import CompanionWire
package import FoundationEssentials

/// A host that this device has paired with.
package struct PairedHost: Codable, Sendable, Hashable, Identifiable {
    /// The id from discovery, or a hash of the address if the user named the host by URL: 16 hex digits.
    package var id: String
    /// The user's name for the host; at first the host's own name.
    package var name: String
    /// The family, which decides the client.
    package var family: HostFamily
    /// How the host has proven its identity.
    package var trust: HostTrust
    /// The address and port at which it was last reached directly; for a host that never was (``isFar``), those that it
    /// has in its own network.
    package var endpoint: CompanionEndpoint
    /// Other ways to it, the preferred one first; nil if there are none. Only verified hosts have any.
    package var routes: [HostRoute]?
    /// Those of its routes that it has told itself.
    package var toldRoutes: [HostRoute]?
    /// When it was last asked for them, by this machine's clock.
    package var routesAskedAt: Date?
    /// The route by which it was last reached; nil: directly.
    package var via: HostRoute?
    /// True if it was never reached directly, so that ``endpoint`` may be another machine's here.
    package var isFar: Bool?
    /// This device's id at the host.
    package var deviceID: String
    /// The name that this device sends with each connection, for hosts that need one. Nil: the machine's name.
    package var deviceName: String?
    /// By this machine's clock.
    package var pairedAt: Date
    /// The time at which it was last reached, by this machine's clock, stored at most once a minute; nil if it is not
    /// known.
    package var lastSeenAt: Date?
    /// The time at which it said that it had ended the pairing, by this machine's clock; nil while it has not.
    package var revokedAt: Date?
    /// The pin of its TLS key. This and all properties below are for verified hosts only.
    package var spki: String?
    /// Its certificate: DER as standard base64. Not a secret.
    package var certificate: String?
    /// Its Ed25519 public key, standard base64.
    package var hostPublicKey: String?
    /// The permissions that it granted at pairing; they may have changed since.
    package var permissions: [CompanionPermission]?
    /// Its plain HTTP port at the time of pairing. That port is never used without TLS again.
    package var plainPort: Int?
    /// The endpoint in the QR code of the pairing; tried if the host is found nowhere else.
    package var namedEndpoint: CompanionEndpoint?
    /// The second base URL of a Jarvis daemon, used if the endpoint does not answer.
    package var fallbackURL: String?

    package init(
        id: String,
        name: String,
        family: HostFamily,
        trust: HostTrust,
        endpoint: CompanionEndpoint,
        deviceID: String,
        pairedAt: Date,
        lastSeenAt: Date? = nil,
        spki: String? = nil,
        certificate: String? = nil,
        hostPublicKey: String? = nil,
        permissions: [CompanionPermission]? = nil,
        plainPort: Int? = nil,
        namedEndpoint: CompanionEndpoint? = nil,
        fallbackURL: String? = nil
    ) {
        self.id = id
        self.name = name
        self.family = family
        self.trust = trust
        self.endpoint = endpoint
        self.deviceID = deviceID
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
        self.spki = spki
        self.certificate = certificate
        self.hostPublicKey = hostPublicKey
        self.permissions = permissions
        self.plainPort = plainPort
        self.namedEndpoint = namedEndpoint
        self.fallbackURL = fallbackURL
    }

    /// Takes over the routes of an earlier record of the same host, and its address where this one has none.
    package mutating func keepRoutes(of earlier: PairedHost) {
        guard trust == .verified, earlier.trust == .verified else { return }
        let routes = ((routes ?? []) + (earlier.routes ?? [])).unique
        self.routes = routes.isEmpty ? nil : routes
        toldRoutes = earlier.toldRoutes
        if isFar == true, earlier.isFar != true { (endpoint, isFar) = (earlier.endpoint, nil) }
    }

    /// The place where it was last reached, as messages name it: `192.168.1.5:7879`, `ssh://box`.
    package var place: String { via?.place ?? "\(endpoint)" }

    /// The rung on which it was last reached; see ``HostRoute/Rung``.
    package var rung: HostRoute.Rung {
        via?.rung ?? (endpoint.address.scope == .sharedAddressSpace ? .mesh : .direct)
    }

    /// Whether this host may answer at an address without its TLS, so that a legacy host there may be this one.
    ///
    /// On a network, an address belongs to one machine, whatever the port. On this machine, many hosts share one
    /// address.
    package func covers(_ other: CompanionEndpoint) -> Bool {
        guard endpoint.address.unmapped == other.address.unmapped else { return false }
        let ports = [endpoint.port, endpoint.port - 1, plainPort ?? endpoint.port]
        return other.address.unmapped.scope != .loopback || ports.contains(other.port)
    }

    /// The id of a host that the user named by its address.
    package static func id(for endpoint: CompanionEndpoint) -> String {
        DeviceIdentity.shortHash("\(endpoint)")
    }
}

/// The paired hosts, and the one that commands use by default.
package struct PairedHosts: Codable, Sendable, Hashable {
    /// The version of the file's format.
    package var version = 1
    /// The id of the default host; nil if there is none.
    package var defaultID: String?
    /// In the order of pairing, the oldest first.
    package var hosts: [PairedHost] = []

    package init() {}

    /// The host that commands use if the user names none; nil if there is none.
    package var defaultHost: PairedHost? {
        hosts.first { $0.id == defaultID }
    }

    /// The hosts that the user's word means, by name or id; empty if there are none.
    package func matching(_ word: String) -> [PairedHost] {
        UserWord(word.lowercased()).choose(among: hosts, ids: { [$0.id] }, names: { [$0.name] })
    }

    /// Adds a host, or replaces the record with its id. The first host becomes the default.
    package mutating func record(_ host: PairedHost) {
        if let index = hosts.firstIndex(where: { $0.id == host.id }) {
            hosts[index] = host
        } else {
            hosts.append(host)
        }
        if defaultHost == nil { defaultID = host.id }
    }

    /// Removes a host. If it was the default and only one is left, that one becomes the default.
    package mutating func forget(_ id: String) {
        hosts.removeAll { $0.id == id }
        if defaultID == id { defaultID = hosts.count == 1 ? hosts.first?.id : nil }
    }
}
