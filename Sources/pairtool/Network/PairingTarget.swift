import CompanionWire
import Discovery
import FoundationEssentials
import Identity

/// A host to send a code to.
struct PairingTarget: Sendable {
    var id: String
    var name: String
    var family: HostFamily
    /// Its endpoints for plain HTTP.
    var endpoints: [CompanionEndpoint]
    /// Its endpoints for TLS, according to its advertisement, its QR code or the user.
    var secureEndpoints: [CompanionEndpoint]

    /// The host at a URL that the user gave.
    init(url: HostURL, family: HostFamily) {
        self.init(endpoint: url.endpoint(of: family), family: family, isSecure: url.isSecure)
    }

    /// A host of which pairtool knows only the address.
    init(endpoint: CompanionEndpoint, family: HostFamily, isSecure: Bool = false) {
        self.family = family
        id = PairedHost.id(for: endpoint)
        name = "\(endpoint)"
        endpoints = isSecure ? [] : [endpoint]
        secureEndpoints = isSecure ? [endpoint] : []
    }

    /// The host at a URL that the user gave, if pairtool may connect to it.
    ///
    /// - Throws: ``CommandError`` for an address that is not on one of this machine's networks.
    init(local url: HostURL, family: HostFamily) throws {
        self.init(url: url, family: family)
        guard allEndpoints.first?.address.isLocal == true else {
            throw CommandError(
                .usage,
                "pairing.address_refused",
                "\(name) is not an address on this machine, your network or your VPN; nothing was sent"
            )
        }
    }

    /// The host that a QR code names with its address; nil if it names none that pairtool may connect to.
    init?(payload: PairingPayload) {
        // Without an id or a key, an address does not identify a host: the code could go to any machine.
        guard payload.host != nil || payload.spki != nil, let address = payload.addr.flatMap({ IPAddress($0) }),
            address.isLocal
        else { return nil }
        let endpoint = CompanionEndpoint(address: address, port: payload.port ?? HostURL.securePort)
        id = payload.host ?? PairedHost.id(for: endpoint)
        family = .usual
        name = "\(endpoint)"
        endpoints = []
        secureEndpoints = [endpoint]
    }

    init(_ host: DiscoveredHost, endpoints: [DiscoveredEndpoint], id: String) {
        self.id = id
        name = host.name
        family = host.family
        (self.endpoints, secureEndpoints) = host.family.behavior.transports(of: host, endpoints)
    }

    /// The targets that an advertisement leads to. If several machines claim the id, each machine is a target of its
    /// own, because only the user knows which one is right.
    ///
    /// An advertisement alone is no reason to contact an address outside this network. A host without a local address
    /// is not a target.
    static func targets(of host: DiscoveredHost) -> [PairingTarget] {
        var host = host
        host.endpoints.removeAll { !$0.endpoint.address.isLocal || $0.endpoint.port == 0 }
        guard host.isClaimedBySeveralMachines else {
            return host.endpoints.isEmpty ? [] : [PairingTarget(host, endpoints: host.endpoints, id: host.id)]
        }
        return Dictionary(grouping: host.endpoints, by: { $0.hostName.lowercased() })
            .sorted { $0.key < $1.key }
            .map { machine, endpoints in
                PairingTarget(host, endpoints: endpoints, id: DeviceIdentity.shortHash("\(host.id) \(machine)"))
            }
    }

    /// The text of the target in a list of choices.
    var text: String {
        "\(name)  \(allEndpoints.map(\.description).joined(separator: " "))  (\(id.prefix(8)))"
    }

    /// Whether it speaks TLS with a key that nothing proves. The user is then asked once about the key.
    var trustsKeyOnFirstUse: Bool { family.behavior.trustsKeyOnFirstUse && !secureEndpoints.isEmpty }

    /// Its URL, in the form that `pair --url` takes.
    var url: String {
        endpoints.first.map { "http://\($0)" } ?? secureEndpoints.first.map { "https://\($0)" } ?? "http://ADDRESS"
    }

    var allEndpoints: [CompanionEndpoint] { (endpoints + secureEndpoints).unique }

    /// The record of an earlier pairing: by id, or by address if the host was named in another way then.
    func record(in hosts: PairedHosts) -> PairedHost? {
        let hosts = hosts.hosts.filter { $0.family == family }
        return hosts.first { $0.id == id } ?? hosts.first { allEndpoints.contains($0.endpoint) }
    }

    /// The record for a pairing with a host that has proven nothing.
    func legacyRecord(at endpoint: CompanionEndpoint, deviceID: String, now: Date) -> PairedHost {
        PairedHost(
            id: id,
            name: name,
            family: family,
            trust: .legacy,
            endpoint: endpoint,
            deviceID: deviceID,
            pairedAt: now,
            lastSeenAt: now
        )
    }

    /// The record of a verified host that this target may be, judged by id or address.
    func verifiedRecord(in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { host in
            host.trust == .verified && host.family == family
                && (host.id == id || allEndpoints.contains(where: host.covers))
        }
    }

    /// A paired host, at the address in its record.
    init(_ record: PairedHost) {
        self.init(endpoint: record.endpoint, family: record.family, isSecure: record.spki != nil)
        id = record.id
        name = record.name
    }

    /// The targets that the user's word means: those with that name or id, else those whose names begin with it.
    static func named(_ word: String, in targets: [PairingTarget]) -> [PairingTarget] {
        let exact = targets.filter { $0.matches(word) }
        return exact.isEmpty ? targets.filter { $0.begins(with: word) } : exact
    }

    /// Whether its name begins with a word, regardless of case. Compares scalars, because the name comes from a peer.
    func begins(with word: String) -> Bool {
        !word.isEmpty && name.lowercased().unicodeScalars.starts(with: word.lowercased().unicodeScalars)
    }

    /// Whether the user's word means this target: its name, its address, or a prefix of its id (four characters or
    /// more).
    func matches(_ word: String) -> Bool {
        let word = word.lowercased()
        return name.lowercased() == word || (word.count >= 4 && id.begins(with: word))
            || allEndpoints.contains { "\($0.address)" == word || "\($0)" == word }
    }
}
