import FoundationEssentials

/// The meaning of a QR code's bytes for pairtool.
package enum QRContent: Sendable, Hashable {
    /// A pairing code of ours.
    case pairing(PairingPayload)
    /// The URL of an AICLI server, with its token.
    case aicli(AICLIPayload)
    /// Something of ours that cannot be used: the text says why.
    case unusable(String)
    /// Somebody else's code: the text says what it is (`a web address`, `Wi-Fi access data`, …).
    case foreign(String)

    /// Looks at the bytes of a symbol. Never fails: what cannot be understood is foreign.
    package init(_ bytes: [UInt8]) {
        guard bytes.count <= PairingPayload.maximumSize else {
            self = .foreign("data of \(bytes.count) bytes, too long for a pairing code")
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self = .foreign("binary data")
            return
        }
        let trimmed = text.trimmed
        if let payload = AICLIPayload(trimmed) {
            self = .aicli(payload)
        } else {
            self = trimmed.begins(with: "{") ? Self.json(trimmed) : .foreign(Self.describe(trimmed))
        }
    }

    private static func json(_ text: String) -> QRContent {
        struct Envelope: Decodable {
            var `protocol`: String?
        }
        let data = Data(text.utf8)
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: data) else {
            return .foreign("text that looks like JSON")
        }
        guard let name = envelope.protocol else { return .foreign("JSON data without a pairing protocol") }
        guard name == PairingPayload.protocolName else {
            return name.begins(with: "copilotforge-pair-")
                ? .unusable("it is for another version of the pairing protocol than \(PairingPayload.protocolName)")
                : .foreign("a code for another protocol")
        }
        guard let payload = try? CompanionJSON.decoder().decode(PairingPayload.self, from: data) else {
            return .unusable("its fields are missing or of the wrong type")
        }
        guard PairingPayload.isCode(payload.code) else { return .unusable("its code is not six digits") }
        return .pairing(payload)
    }

    /// Prefixes (lower case) of what QR codes usually hold.
    private static let kinds: [(prefix: String, name: String)] = [
        ("https://", "a web address"), ("http://", "a web address"), ("wifi:", "Wi-Fi access data"),
        ("begin:vcard", "a contact"), ("mecard:", "a contact"), ("begin:vevent", "a calendar entry"),
        ("begin:vcalendar", "a calendar entry"), ("otpauth:", "a one-time-password secret"),
        ("tel:", "a telephone number"),
        ("mailto:", "an e-mail address"), ("matmsg:", "an e-mail"), ("sms:", "a text message"),
        ("smsto:", "a text message"), ("geo:", "a place on the map"), ("bitcoin:", "a payment request"),
        ("bcd\n", "a bank transfer"), ("mt:", "a Matter device's set-up code"), ("x-hm:", "a HomeKit set-up code"),
    ]

    private static func describe(_ text: String) -> String {
        let lowered = text.lowercased()
        if let kind = kinds.first(where: { lowered.begins(with: $0.prefix) }) { return kind.name }
        if text.isEmpty { return "an empty text" }
        if PairingPayload.isCode(text) { return "six digits without a pairing protocol" }
        return "plain text"
    }
}

extension String {
    fileprivate var trimmed: String {
        let isKept: (Unicode.Scalar) -> Bool = { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        guard let start = unicodeScalars.firstIndex(where: isKept), let end = unicodeScalars.lastIndex(where: isKept)
        else { return "" }
        return String(unicodeScalars[start...end])
    }
}
