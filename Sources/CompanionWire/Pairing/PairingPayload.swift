package import FoundationEssentials

/// The content of a host's pairing QR code.
///
/// In v1 it names no host, port or address: discovery has to supply them. In v2 it does, and it says which TLS key the
/// host has.
package struct PairingPayload: Sendable, Hashable {
    /// The `protocol` of every payload that this version reads.
    package static let protocolName = "copilotforge-pair-v1"

    /// Payloads longer than this are not looked into; a QR code holds at most 2,953 bytes.
    package static let maximumSize = 8 << 10

    /// Six decimal digits.
    package var code: String
    /// The token; some builds leave it out.
    package var token: String?
    /// When the challenge ends, by the host's clock; some builds leave it out.
    package var expiresAt: Date?
    /// The version of the protocol (`v`); nil in v1's payloads.
    package var version: Int?
    /// The host's id.
    package var host: String?
    /// The pin of the host's TLS key: base64url of SHA-256 over its SubjectPublicKeyInfo, 43 characters.
    package var spki: String?
    /// The port of the host's HTTPS, 1…65535.
    package var port: Int?
    /// The address of the host, for networks that block multicast: the one that is most likely to lead there.
    package var addr: String?
    /// Other addresses of the host, the most likely one first. At most ``mostOtherAddrs``.
    package var otherAddrs: [String]
    /// The relays that the host has joined, as `machine:port`, the preferred one first. At most ``mostRelays``.
    package var relays: [String]
    /// The id by which relays know the host: base64url of its 32 bytes.
    package var relayHost: String?

    package init(
        code: String,
        token: String?,
        expiresAt: Date?,
        version: Int? = nil,
        host: String? = nil,
        spki: String? = nil,
        port: Int? = nil,
        addr: String? = nil,
        otherAddrs: [String] = [],
        relays: [String] = [],
        relayHost: String? = nil
    ) {
        (self.relays, self.relayHost) = (relays, relayHost)
        self.code = code
        self.token = token
        self.expiresAt = expiresAt
        self.version = version
        self.host = host
        self.spki = spki
        self.port = port
        self.addr = addr
        self.otherAddrs = otherAddrs
    }

    /// Other addresses that are read: a host needs few, and a reader tries them all.
    package static let mostOtherAddrs = 8
    /// The most bytes that a symbol of version 11 holds at level L (ISO/IEC 18004, table 7).
    private static let longestText = 321

    /// Relays that are read.
    package static let mostRelays = 2
    /// The most bytes of a payload that names relays: what a symbol of version 13 holds at level L.
    private static let longestTextWithRelays = 425

    /// The routes to the host over the relays that the payload names.
    package var relayRoutes: [HostRoute] {
        guard let id = relayHost.flatMap(Base64URL.decode).flatMap(RelayID.init(bytes:)) else { return [] }
        return relays.compactMap { RelayAddress("relay://\($0)") }.map { .relay(RelayRoute(relay: $0, host: id)) }
    }

    /// The same payload with the relays of the host. The ids of the relays themselves are left out: relays are not
    /// trusted, and the device learns them once it is connected.
    ///
    /// - Parameters:
    ///   - addresses: The preferred one first.
    ///   - id: The id by which they know the host.
    package func naming(relays addresses: [RelayAddress], host id: RelayID) -> PairingPayload {
        var payload = self
        payload.relays = addresses.prefix(Self.mostRelays).map(\.authority)
        payload.relayHost = Base64URL.encode(id.bytes)
        return payload
    }

    /// The same payload with the addresses of the host: the first as ``addr``, and as many others as the text of a
    /// symbol has room for.
    ///
    /// - Parameter addresses: The most likely one first.
    package func naming(_ addresses: [String]) -> PairingPayload {
        var payload = self
        payload.addr = addresses.first
        for address in addresses.dropFirst().prefix(Self.mostOtherAddrs) {
            var longer = payload
            longer.otherAddrs.append(address)
            let limit = relays.isEmpty ? Self.longestText : Self.longestTextWithRelays
            guard longer.text.utf8.count <= limit else { break }
            payload = longer
        }
        return payload
    }

    /// The port of HTTPS where a payload names none (companion-v2, Ports and adverts).
    package static let defaultPort = CompanionEndpoint.defaultPort + 1

    /// The payload, and the same without what a reader can do without, each smaller than the one before.
    ///
    /// The host says itself when the code ends and what its id is, once the connection to its key is there. Without the
    /// token the six digits are the proof, as where they are typed. What names no key, or no address, stays whole.
    package var sizes: [PairingPayload] {
        guard spki != nil, addr != nil else { return [self] }
        var smaller = self
        smaller.otherAddrs = []
        let oneAddress = smaller
        smaller.expiresAt = nil
        if port == Self.defaultPort { smaller.port = nil }
        var smallest = smaller
        smallest.token = nil
        smallest.host = nil
        // Without a token, a relay is of no use.
        (smallest.relays, smallest.relayHost) = ([], nil)
        return otherAddrs.isEmpty ? [self, smaller, smallest] : [self, oneAddress, smaller, smallest]
    }

    /// Whether another payload is one of the same host, so that the newer of both counts.
    package func isOfSameHost(as other: PairingPayload) -> Bool {
        spki == nil && other.spki == nil ? host == other.host : spki == other.spki
    }

    /// Whether a text is a pairing code: exactly six ASCII digits.
    package static func isCode(_ text: String) -> Bool {
        text.utf8.count == 6 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension PairingPayload: Codable {
    private enum CodingKeys: String, CodingKey {
        case `protocol`, code, token, expiresAt
        case version = "v"
        case host, spki, port, addr
        case otherAddrs = "addrs"
        case relays
        case relayHost = "rid"
    }

    /// Reads a payload. An empty token counts as absent, and unreadable `addrs` are ignored.
    ///
    /// - Throws: `DecodingError`, also for a pin that is not 32 bytes and for a port out of range.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .code)
        let token = try container.decodeIfPresent(String.self, forKey: .token)
        self.token = token?.isEmpty == true ? nil : token
        expiresAt = try container.decodeIfPresent(Date.self, forKey: .expiresAt)
        version = try container.decodeIfPresent(Int.self, forKey: .version)
        host = try container.decodeIfPresent(String.self, forKey: .host)
        // A pin that cannot be read must not become a pairing without a pin.
        spki = try container.decodeIfPresent(String.self, forKey: .spki)
        guard spki.map({ Base64URL.decode($0)?.count == 32 }) ?? true else {
            throw DecodingError.dataCorruptedError(forKey: .spki, in: container, debugDescription: "not 32 bytes")
        }
        port = try container.decodeIfPresent(Int.self, forKey: .port)
        guard port.map((1...65535).contains) ?? true else {
            throw DecodingError.dataCorruptedError(forKey: .port, in: container, debugDescription: "not a port")
        }
        addr = try container.decodeIfPresent(String.self, forKey: .addr)
        // Hints, which a code can do without.
        let others = (try? container.decodeIfPresent([String].self, forKey: .otherAddrs)) ?? []
        otherAddrs = Array(others.prefix(Self.mostOtherAddrs))
        let relays = (try? container.decodeIfPresent([String].self, forKey: .relays)) ?? []
        self.relays = Array(relays.prefix(Self.mostRelays))
        relayHost = (try? container.decodeIfPresent(String.self, forKey: .relayHost)) ?? nil
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.protocolName, forKey: .protocol)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(token, forKey: .token)
        try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encodeIfPresent(host, forKey: .host)
        try container.encodeIfPresent(spki, forKey: .spki)
        try container.encodeIfPresent(port, forKey: .port)
        try container.encodeIfPresent(addr, forKey: .addr)
        if !otherAddrs.isEmpty { try container.encode(otherAddrs, forKey: .otherAddrs) }
        if !relays.isEmpty { try container.encode(relays, forKey: .relays) }
        try container.encodeIfPresent(relayHost, forKey: .relayHost)
    }

    /// The payload as the text of a QR code: v1's keys in the order that deployed hosts write them, then v2's.
    package var text: String {
        let members: [(String, JSONValue?)] = [
            ("protocol", .string(Self.protocolName)), ("code", .string(code)), ("token", token.map(JSONValue.string)),
            ("expiresAt", expiresAt.map { .string(CompanionTimestamp.string(from: $0)) }),
            ("v", version.map { .integer(Int64($0)) }), ("host", host.map(JSONValue.string)),
            ("spki", spki.map(JSONValue.string)), ("port", port.map { .integer(Int64($0)) }),
            ("addr", addr.map(JSONValue.string)),
            ("addrs", otherAddrs.isEmpty ? nil : .array(otherAddrs.map(JSONValue.string))),
            ("relays", relays.isEmpty ? nil : .array(relays.map(JSONValue.string))),
            ("rid", relayHost.map(JSONValue.string)),
        ]
        let texts = members.compactMap { name, value in
            value.map { "\"\(name)\":\(String(decoding: $0.json, as: UTF8.self))" }
        }
        return "{\(texts.joined(separator: ","))}"
    }
}
