import CompanionApp
import CompanionWire
import FoundationEssentials
import Terminal

/// A code that was found in a picture.
struct ScanFinding: Encodable {
    enum Kind: String, Encodable {
        case pairing
        case unusable
        case foreign
    }

    var file: String
    var kind: Kind
    var `protocol`: String?
    /// The kind of a code that is not for pairing, or the reason why a pairing code cannot be used; nil for a usable
    /// one.
    var description: String?
    /// The protocol version: 1 names no host, 2 names a host and its key.
    var version: Int?
    /// The id of the host that the code names.
    var host: String?
    /// The address and port of that host according to the code: HTTPS, or HTTP for an AICLI server.
    var address: String?
    /// Other addresses of that host.
    var otherAddresses: [String]?
    /// The pin of that host's TLS key.
    var spki: String?
    var expiresAt: Date?
    /// Seconds until it expires; negative afterwards.
    var expiresIn: Int?
    var expired: Bool?
    var hasCode: Bool?
    var hasToken: Bool?
    var code: String?
    var token: String?
    /// The text of the code; nil for a pairing code whose secrets are not shown, and for one that is not UTF-8.
    private var said: String?
    /// Its bytes, in Base64, if they are not UTF-8.
    private var bytes: String?

    private enum CodingKeys: String, CodingKey {
        case file, kind, `protocol`, description, version, host, address, otherAddresses, spki, expiresAt, expiresIn,
            expired, hasCode, hasToken, code, token, bytes
        case said = "text"
    }

    init(file: String, code found: FoundCode, showSecrets: Bool, now: Date) {
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

    /// The value of `protocol` for an AICLI server's code. AICLI itself gives its code no name.
    private static let aicliProtocol = "aicli"

    var text: String {
        guard kind == .pairing else { return TerminalText.line("\(file): \(description ?? "")") }
        guard self.protocol != Self.aicliProtocol else {
            let facts: FactList = ["address": "\(address ?? "") (plain HTTP)", "token": token ?? Self.hidden]
            return TerminalText.line("\(file): AICLI pairing code") + "\n" + facts.text(indent: 2)
        }
        let places = [address].compactMap(\.self) + (otherAddresses ?? [])
        let facts: FactList = [
            "protocol": "\(self.protocol ?? ""), version \(version ?? 1)",
            "code": code ?? Self.hidden,
            "token": token ?? (hasToken == true ? Self.hidden : "none"),
            "host": host.map { $0 + (places.isEmpty ? "" : " at \(places.joined(separator: ", "))") },
            "TLS key": spki.map { "pinned (\($0.prefix(12))…)" } ?? "none: plain HTTP",
            "expires": expiry ?? "unknown",
        ]
        return TerminalText.line("\(file): CopilotForge pairing code") + "\n" + facts.text(indent: 2)
    }

    private static let hidden = "present (--show-secrets shows it)"

    private var expiry: String? {
        guard let expiresAt, let expiresIn else { return nil }
        let span = TimeText.span(Double(expiresIn))
        let left = expired == true ? "expired \(span) ago" : "\(span) left"
        return "\(LocalTime.text(expiresAt)) (\(left), by this machine's clock)"
    }
}
