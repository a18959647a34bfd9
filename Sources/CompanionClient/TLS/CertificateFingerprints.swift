import CompanionWire
import Crypto

/// The SHA-256 hashes by which people may know a certificate: of its DER bytes, of its PEM file and of its public key.
package struct CertificateFingerprints: Sendable {
    private let hashes: [[UInt8]]

    package init(_ certificate: PinnedCertificate) {
        hashes = [
            Array(SHA256.hash(data: certificate.der)), Array(SHA256.hash(data: Self.document(certificate.der))),
            Base64URL.decode(certificate.spki) ?? [],
        ]
    }

    /// The file that the certificate is in, as OpenSSL writes it (RFC 7468).
    private static func document(_ der: [UInt8]) -> [UInt8] {
        let body = Array(Base64.encode(der).utf8)
        let lines = stride(from: 0, to: body.count, by: 64).flatMap { start in
            body[start..<min(start + 64, body.count)] + [UInt8(ascii: "\n")]
        }
        return Array("-----BEGIN CERTIFICATE-----\n".utf8) + lines + Array("-----END CERTIFICATE-----\n".utf8)
    }

    /// Of the certificate, as browsers and `openssl x509 -fingerprint -sha256` show it.
    package var certificate: String { Self.text(hashes[0]) }

    /// Of the PEM file, which is what AICLI servers print.
    package var document: String { Self.text(hashes[1]) }

    /// Whether a hash is one of the certificate, its file or its key.
    package func match(_ hash: [UInt8]) -> Bool { hashes.contains(hash) }

    /// `AB:CD:…`
    package static func text(_ hash: [UInt8]) -> String {
        hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }
}
