import CompanionWire
import Crypto
import FoundationEssentials
import NIOSSL

/// A host's certificate and the pin of its key.
///
/// Hosts sign their certificates themselves, so a certificate is trusted for its key alone: because a pairing proved
/// it, or because a QR code named it.
package struct PinnedCertificate: Sendable, Hashable {
    /// The certificate in DER.
    package let der: [UInt8]
    /// SHA-256 over the DER SubjectPublicKeyInfo, base64url without padding: 43 characters (companion-v2, Identities).
    package let spki: String

    /// - Throws: ``CompanionClientError/Code/badAnswer`` for bytes that are no certificate.
    package init(der: [UInt8]) throws(CompanionClientError) {
        do {
            try self.init(NIOSSLCertificate(bytes: der, format: .der))
        } catch {
            throw CompanionClientError(
                .badAnswer,
                message: "The certificate of the host cannot be read.",
                underlying: error
            )
        }
    }

    init(_ certificate: NIOSSLCertificate) throws {
        der = try certificate.toDERBytes()
        spki = Self.pin(of: try certificate.extractPublicKey().toSPKIBytes())
    }

    private static func pin(of publicKeyInfo: [UInt8]) -> String {
        Base64URL.encode(Array(SHA256.hash(data: publicKeyInfo)))
    }
}

/// How a client speaks to its host.
package enum HostSecurity: Sendable, Hashable {
    /// HTTP, by protocol v1: nothing is proven, everything can be read.
    case plain
    /// TLS 1.3 that ends at this certificate, by protocol v2.
    case pinned(PinnedCertificate)

    /// The certificate of a pinned connection.
    package var certificate: PinnedCertificate? {
        if case .pinned(let certificate) = self { certificate } else { nil }
    }
}
