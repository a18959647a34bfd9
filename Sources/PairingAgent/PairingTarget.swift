package import CompanionWire
internal import FoundationEssentials
package import Identity

/// A host to send a code to.
package struct PairingTarget: Sendable {
    /// The id that the host advertises, that a QR code names or that its record has; else a hash of its address.
    package var id: String
    /// The name for users: the host's name, or its address.
    package var name: String
    package var family: HostFamily
    /// Its endpoints for plain HTTP.
    package var endpoints: [CompanionEndpoint]
    /// Its endpoints for TLS, according to its advertisement, its QR code or the user.
    package var secureEndpoints: [CompanionEndpoint]
    /// Other ways to it, for TLS only.
    package var routes: [HostRoute]

    package init(
        id: String,
        name: String,
        family: HostFamily,
        endpoints: [CompanionEndpoint],
        secureEndpoints: [CompanionEndpoint],
        routes: [HostRoute] = []
    ) {
        self.id = id
        self.name = name
        self.family = family
        self.endpoints = endpoints
        self.secureEndpoints = secureEndpoints
        self.routes = routes
    }

    /// A host of which pairtool knows only a route. It has to speak TLS.
    package init(route: HostRoute, family: HostFamily) {
        self.init(
            id: DeviceIdentity.shortHash("\(route)"),
            name: route.place,
            family: family,
            endpoints: [],
            secureEndpoints: [],
            routes: [route]
        )
    }

    /// A host of which pairtool knows only the address.
    package init(endpoint: CompanionEndpoint, family: HostFamily, isSecure: Bool = false) {
        self.init(
            id: PairedHost.id(for: endpoint),
            name: "\(endpoint)",
            family: family,
            endpoints: isSecure ? [] : [endpoint],
            secureEndpoints: isSecure ? [endpoint] : []
        )
    }

    /// A paired host, at the address in its record.
    package init(_ record: PairedHost) {
        self.init(endpoint: record.endpoint, family: record.family, isSecure: record.spki != nil)
        id = record.id
        name = record.name
    }

    /// Its URL, in the form that `pair --url` takes.
    package var url: String {
        endpoints.first.map { "http://\($0)" } ?? secureEndpoints.first.map { "https://\($0)" }
            ?? routes.first.map { "\($0)" } ?? "http://ADDRESS"
    }

    /// Its endpoints for plain HTTP, then those for TLS, each once.
    package var allEndpoints: [CompanionEndpoint] { (endpoints + secureEndpoints).unique }
}

// MARK: Records

extension PairingTarget {
    /// The record of an earlier pairing: by id, or by address if the host was named in another way then.
    package func record(in hosts: PairedHosts) -> PairedHost? {
        let hosts = hosts.hosts.filter { $0.family == family }
        return hosts.first { $0.id == id } ?? hosts.first { allEndpoints.contains($0.endpoint) }
    }

    /// The record of a verified host that this target may be, judged by id or address.
    package func verifiedRecord(in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { host in
            host.trust == .verified && host.family == family
                && (host.id == id || allEndpoints.contains(where: host.covers))
        }
    }

    /// The record for a pairing with a host that has proven nothing.
    func legacyRecord(at endpoint: CompanionEndpoint, of device: PairingDevice) -> PairedHost {
        let now = device.now()
        return PairedHost(
            id: id,
            name: name,
            family: family,
            trust: .legacy,
            endpoint: endpoint,
            deviceID: device.identity.deviceID,
            pairedAt: now,
            lastSeenAt: now
        )
    }
}

// MARK: Names

extension PairingTarget {
    /// The targets that the user's word means: those with that name or id, else those whose names begin with it.
    package static func named(_ word: String, in targets: [PairingTarget]) -> [PairingTarget] {
        let exact = targets.filter { $0.matches(word) }
        return exact.isEmpty ? targets.filter { UserWord(word).begins(name: $0.name) } : exact
    }

    /// Whether the user's word means this target: its name, its address, or a prefix of its id. None of them comes
    /// before another, so that a word that is the name of one host and begins the id of another means both: a code goes
    /// to one host only.
    package func matches(_ word: String) -> Bool {
        let (word, meant) = (word.lowercased(), UserWord(word.lowercased()))
        return meant.isName(name) || meant.begins(id: id)
            || allEndpoints.contains { "\($0.address)" == word || "\($0)" == word }
            || routes.contains { "\($0)" == word || $0.place == word }
    }
}
