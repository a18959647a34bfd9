package import FoundationEssentials

/// What a host's pairing QR code says (protocol v1).
///
/// It names no host, port or address: discovery has to supply them.
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

    package init(code: String, token: String?, expiresAt: Date?) {
        self.code = code
        self.token = token
        self.expiresAt = expiresAt
    }

    /// Whether a text is a pairing code: exactly six ASCII digits.
    package static func isCode(_ text: String) -> Bool {
        text.utf8.count == 6 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension PairingPayload: Codable {
    private enum CodingKeys: String, CodingKey {
        case `protocol`, code, token, expiresAt
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .code)
        let token = try container.decodeIfPresent(String.self, forKey: .token)
        self.token = token?.isEmpty == true ? nil : token
        expiresAt = try container.decodeIfPresent(Date.self, forKey: .expiresAt)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.protocolName, forKey: .protocol)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(token, forKey: .token)
        try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    }

    /// The payload as the text of a QR code: keys in the order that deployed hosts write them.
    package var text: String {
        var fields = [("protocol", Self.protocolName), ("code", code)]
        if let token { fields.append(("token", token)) }
        if let expiresAt { fields.append(("expiresAt", CompanionTimestamp.string(from: expiresAt))) }
        let encoder = CompanionJSON.encoder()
        let members = fields.map { key, value in
            let quoted = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
            return "\"\(key)\":\(quoted)"
        }
        return "{\(members.joined(separator: ","))}"
    }
}
