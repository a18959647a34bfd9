package import CompanionWire
package import FoundationEssentials

/// A host that this device has paired with.
package struct PairedHost: Codable, Sendable, Hashable, Identifiable {
    /// The id that discovery gave it, or a hash of its address where it was named by URL: 16 hex digits.
    package var id: String
    /// What the user calls it; at first what the host calls itself.
    package var name: String
    package var family: HostFamily
    package var trust: HostTrust
    /// Where it was last reached.
    package var endpoint: CompanionEndpoint
    /// This device's id at the host.
    package var deviceID: String
    /// What this device calls itself to a host that is told with each connection. Nil: the machine's name.
    package var deviceName: String?
    package var pairedAt: Date
    package var lastSeenAt: Date?
    /// The pin of its TLS key; of a verified host only, as is all below.
    package var spki: String?
    /// Its certificate: DER as standard base64. Not a secret.
    package var certificate: String?
    /// Its Ed25519 public key, standard base64.
    package var hostPublicKey: String?
    /// What it allowed when it was paired; it may have changed since.
    package var permissions: [CompanionPermission]?
    /// Where it also answered in plain HTTP when it was paired: that port is never spoken to without TLS again.
    package var plainPort: Int?
    /// Where the QR code that it was paired by said that it is: tried when it is nowhere else.
    package var namedEndpoint: CompanionEndpoint?
    /// The second base URL of a Jarvis daemon, used where nothing answers at the endpoint.
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

    /// Whether an address is one at which this host was, or may be, without its TLS.
    ///
    /// On a network an address is one machine, whatever the port. This machine has many hosts at one address.
    package func covers(_ other: CompanionEndpoint) -> Bool {
        guard endpoint.address.unmapped == other.address.unmapped else { return false }
        let ports = [endpoint.port, endpoint.port - 1, plainPort ?? endpoint.port]
        return other.address.unmapped.scope != .loopback || ports.contains(other.port)
    }

    /// The id of a host that was named by its address instead of being discovered.
    package static func id(for endpoint: CompanionEndpoint) -> String {
        DeviceIdentity.shortHash("\(endpoint)")
    }
}

/// The paired hosts, and which of them commands go to when none is named.
package struct PairedHosts: Codable, Sendable, Hashable {
    /// The version of the file's format.
    package var version = 1
    package var defaultID: String?
    /// Oldest pairing first.
    package var hosts: [PairedHost] = []

    package init() {}

    package var defaultHost: PairedHost? {
        hosts.first { $0.id == defaultID }
    }

    /// The hosts that a word names: by whole id or name, else by a prefix of the id (four characters or more), else by
    /// a prefix of the name, upper and lower case alike.
    package func matching(_ word: String) -> [PairedHost] {
        let word = word.lowercased()
        let rules: [(PairedHost) -> Bool] = [
            { $0.id == word },
            { $0.name.lowercased() == word },
            { word.count >= 4 && $0.id.begins(with: word) },
            { !word.isEmpty && $0.name.lowercased().begins(with: word) },
        ]
        for rule in rules {
            let found = hosts.filter(rule)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Adds a host, or replaces the record with its id; the first host becomes the default.
    package mutating func record(_ host: PairedHost) {
        if let index = hosts.firstIndex(where: { $0.id == host.id }) {
            hosts[index] = host
        } else {
            hosts.append(host)
        }
        if defaultHost == nil { defaultID = host.id }
    }

    /// Removes a host; when it was the default, the only one left takes its place.
    package mutating func forget(_ id: String) {
        hosts.removeAll { $0.id == id }
        if defaultID == id { defaultID = hosts.count == 1 ? hosts.first?.id : nil }
    }
}
