import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A P-256 key with a self-signed certificate for TLS.
///
/// Those who see it know its key or its hash, so the name and the dates in it mean nothing.
package struct SelfSignedCertificate: Sendable {
    package enum Use: Sendable {
        case client, server
    }

    /// The private key in DER. A secret.
    package let privateKey: [UInt8]
    /// SHA-256 over the DER SubjectPublicKeyInfo: 32 bytes.
    package let spki: [UInt8]
    /// The certificate in DER.
    package let der: [UInt8]
    /// The key (PKCS #8) and then the certificate, in PEM. A secret.
    package let pem: String

    /// Makes a new key and its certificate.
    ///
    /// - Parameter name: The common name. Each certificate of a kind has the same: it tells nothing of a user or a
    ///   machine.
    /// - Throws: What the libraries for keys and certificates throw.
    package init(name: String, for use: Use) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(name) }
        let usage = try ExtendedKeyUsage(use == .client ? [.clientAuth] : [.serverAuth])
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            // From 2000-01-01 to 9999-12-31 (RFC 5280, 4.1.2.5: no well-defined end): neither clock nor age matter.
            notValidBefore: Date(timeIntervalSince1970: 946_684_800),
            notValidAfter: Date(timeIntervalSince1970: 253_402_300_799),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions { usage },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        try self.init(pem: key.pemRepresentation + "\n" + certificate.serializeAsPEM().pemString + "\n")
    }

    /// Reads what ``pem`` has given.
    ///
    /// - Throws: What the libraries throw, or the reason why the text is not a P-256 key with its own certificate.
    package init(pem text: String) throws {
        let documents = try PEMDocument.parseMultiple(pemString: text)
        guard documents.count == 2 else { throw Unusable(description: "it has \(documents.count) parts") }
        let key = try P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString)
        let certificate = try Certificate(pemDocument: documents[1])
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey),
            certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
        else { throw Unusable(description: "key and certificate do not belong together") }
        privateKey = Array(key.derRepresentation)
        spki = Digest.sha256(Array(key.publicKey.derRepresentation))
        der = documents[1].derBytes
        pem = text
    }

    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }
}
