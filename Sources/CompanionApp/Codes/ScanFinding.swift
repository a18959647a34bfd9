import CompanionWire
package import FoundationEssentials

/// A code that was found in a picture.
package struct ScanFinding: Encodable, Sendable {
    package enum Kind: String, Encodable, Sendable {
        case pairing
        case unusable
        case foreign
    }

    package var file: String
    package var kind: Kind
    package var `protocol`: String?
    /// The kind of a code that is not for pairing, or the reason why a pairing code cannot be used; nil for a usable
    /// one.
    package var description: String?
    /// The protocol version: 1 names no host, 2 names a host and its key.
    package var version: Int?
    /// The id of the host that the code names.
    package var host: String?
    /// The address and port of that host according to the code: HTTPS, or HTTP for an AICLI server.
    package var address: String?
    /// Other addresses of that host.
    package var otherAddresses: [String]?
    /// The pin of that host's TLS key.
    package var spki: String?
    package var expiresAt: Date?
    /// Seconds until it expires; negative afterwards.
    package var expiresIn: Int?
    package var expired: Bool?
    package var hasCode: Bool?
    package var hasToken: Bool?
    package var code: String?
    package var token: String?
    /// The text of the code; nil for a pairing code whose secrets are not shown, and for one that is not UTF-8.
    private var said: String?
    /// Its bytes, in Base64, if they are not UTF-8.
    private var bytes: String?

    private enum CodingKeys: String, CodingKey {
        case file, kind, `protocol`, description, version, host, address, otherAddresses, spki, expiresAt, expiresIn,
            expired, hasCode, hasToken, code, token, bytes
        case said = "text"
    }

    package init(file: String, code found: FoundCode, showSecrets: Bool, now: Date) {
        self.file = file
        if showSecrets || !found.content.isPairing {
            said = String(validating: found.bytes, as: UTF8.self)
            bytes = said == nil ? Base64.encode(found.bytes) : nil
        }
        switch found.content {
        case .pairing(let payload):
            kind = .pairing
            self.protocol = PairingPayload.protocolName
            version = payload.version ?? 1
            host = payload.host
            address = payload.addr.map { addr in payload.port.map { "\(addr):\($0)" } ?? addr }
            otherAddresses = payload.otherAddrs.isEmpty ? nil : payload.otherAddrs
            spki = payload.spki
            expiresAt = payload.expiresAt
            expiresIn = payload.expiresAt.map { Int($0.timeIntervalSince(now).rounded(.down)) }
            expired = payload.expiresAt.map { $0 <= now }
            hasCode = true
            hasToken = payload.token != nil
            if showSecrets {
                code = payload.code
                token = payload.token
            }
        case .aicli(let payload):
            kind = .pairing
            self.protocol = Self.aicliProtocol
            address = "\(payload.endpoint)"
            hasCode = false
            hasToken = true
            if showSecrets { token = payload.token }
        case .unusable(let reason):
            kind = .unusable
            description = "an unusable pairing code: \(reason)"
        case .foreign(let what):
            kind = .foreign
            description = what
        }
    }

    /// Whether it is an AICLI server's code.
    package var isAICLI: Bool { self.protocol == Self.aicliProtocol }

    /// The value of `protocol` for an AICLI server's code. AICLI itself gives its code no name.
    private static let aicliProtocol = "aicli"
}
