import CompanionWire
import Discovery
import FoundationEssentials
import PairingAgent

/// The one host that a code is sent to.
struct PairingTarget: Sendable {
    var id: String
    var name: String
    var family: HostFamily
    /// Where it answers in plain HTTP.
    var endpoints: [CompanionEndpoint]
    /// Where it answers in TLS, as its advertisement, its QR code or the user says.
    var secureEndpoints: [CompanionEndpoint]

    /// A host that the user named by its address.
    init(url: HostURL, family: HostFamily) {
        self.init(endpoint: url.endpoint(of: family), family: family, isSecure: url.isSecure)
    }

    /// A host that is known by its address alone.
    init(endpoint: CompanionEndpoint, family: HostFamily, isSecure: Bool = false) {
        self.family = family
        id = PairedHost.id(for: endpoint)
        name = "\(endpoint)"
        endpoints = isSecure ? [] : [endpoint]
        secureEndpoints = isSecure ? [endpoint] : []
    }

    /// The same, where it may be spoken to.
    ///
    /// - Throws: ``CommandError`` for an address that is on none of this machine's networks.
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

    /// The host that a QR code names with its address; nil if it names none that may be spoken to.
    init?(payload: PairingPayload) {
        // Without a key, an address does not identify a host: the code could go to anyone.
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
        (self.endpoints, secureEndpoints) = host.family.ways.transports(of: host, endpoints)
    }

    /// The targets behind an advert. An id that several machines claim is one target for each machine: only the user
    /// knows which is the right one.
    ///
    /// An advert is no reason to speak to an address that is not on this network: a host without another one is no
    /// target.
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

    /// How the target stands in a list.
    var text: String {
        "\(name)  \(allEndpoints.map(\.description).joined(separator: " "))  (\(id.prefix(8)))"
    }

    /// Whether it speaks TLS with a key that nothing proves: the user is asked about the key, once.
    var trustsKeyOnFirstUse: Bool { family.ways.trustsKeyOnFirstUse && !secureEndpoints.isEmpty }

    /// Where it is, as `pair --url` takes it.
    var url: String {
        endpoints.first.map { "http://\($0)" } ?? secureEndpoints.first.map { "https://\($0)" } ?? "http://ADDRESS"
    }

    var allEndpoints: [CompanionEndpoint] { (endpoints + secureEndpoints).unique }

    /// The record of an earlier pairing: by id, or by address where the host was named in another way then.
    func record(in hosts: PairedHosts) -> PairedHost? {
        let hosts = hosts.hosts.filter { $0.family == family }
        return hosts.first { $0.id == id } ?? hosts.first { allEndpoints.contains($0.endpoint) }
    }

    /// The record of a pairing with a host that has proven nothing.
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

    /// The record of a host that was verified before and may be this one, whatever its address or advertisement says.
    func verifiedRecord(in hosts: PairedHosts) -> PairedHost? {
        hosts.hosts.first { host in
            host.trust == .verified && host.family == family
                && (host.id == id || allEndpoints.contains(where: host.covers))
        }
    }

    /// A host that is recorded already, where its record says that it is.
    init(_ record: PairedHost) {
        self.init(endpoint: record.endpoint, family: record.family, isSecure: record.spki != nil)
        id = record.id
        name = record.name
    }

    /// The targets that a word on the command line means: those that are called so, else those whose names begin so.
    static func named(_ word: String, in targets: [PairingTarget]) -> [PairingTarget] {
        let exact = targets.filter { $0.matches(word) }
        return exact.isEmpty ? targets.filter { $0.begins(with: word) } : exact
    }

    /// Whether its name begins with a word, in any case. By scalars: what is compared here, others have written.
    func begins(with word: String) -> Bool {
        !word.isEmpty && name.lowercased().unicodeScalars.starts(with: word.lowercased().unicodeScalars)
    }

    /// Whether a word on the command line means this target: its name, or a prefix of its id.
    func matches(_ word: String) -> Bool {
        let word = word.lowercased()
        return name.lowercased() == word || (word.count >= 4 && id.begins(with: word))
            || allEndpoints.contains { "\($0.address)" == word || "\($0)" == word }
    }
}
