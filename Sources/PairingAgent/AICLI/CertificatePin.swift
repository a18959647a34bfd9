internal import CompanionClient
internal import CompanionWire

/// What a user knows a TLS key by: the SHA-256 of a certificate, of its key, or of the certificate file.
package struct CertificatePin: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    let bytes: [UInt8]

    /// Reads `sha256:` and 64 hex digits, with or without colons, or 43 characters of base64url.
    package init?(_ text: String) {
        let prefix = "sha256:"
        guard text.utf8.count > prefix.utf8.count,
            text.prefix(prefix.count).lowercased().utf8.elementsEqual(prefix.utf8)
        else { return nil }
        let rest = text.dropFirst(prefix.count)
        let digits = rest.utf8.filter { $0 != UInt8(ascii: ":") }.map { Character(Unicode.Scalar($0)).hexDigitValue }
        if digits.count == 64, digits.allSatisfy({ $0 != nil }) {
            let values = digits.compactMap(\.self)
            bytes = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        } else if let bytes = Base64URL.decode(String(rest)), bytes.count == 32 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    package var description: String { "sha256:" + CertificateFingerprints.text(bytes) }
}
