package import CompanionWire
import Crypto
import FoundationEssentials
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The identity that somebody shows to a relay, and to nobody else: a P-256 key with a self-signed certificate.
///
/// The certificate is the same for everybody but for its key and serial number: it tells nothing of a user or a host.
/// A device makes one for each pairing, so that a relay cannot see that two hosts have the same device.
package struct RelayIdentity: Sendable {
    /// SHA-256 over the certificate in DER.
    package let id: RelayID
    /// The key (PKCS #8) and then the certificate, in PEM. A secret.
    package let pem: String
    /// TLS as a client of relays. Made once: every connection uses it.
    let context: NIOSSLContext

    /// Makes a new key and its certificate.
    ///
    /// - Throws: ``RelayError/Code/badIdentity``.
    package static func make() throws(RelayError) -> RelayIdentity {
        let text: String
        do {
            text = try makeFile()
        } catch {
            throw RelayError(.badIdentity, message: "No key for the relay could be made.", underlying: error)
        }
        return try RelayIdentity(pem: text)
    }

    /// Reads what ``pem`` has given.
    ///
    /// - Throws: ``RelayError/Code/badIdentity`` for text that is not a P-256 key followed by its own certificate.
    package init(pem text: String) throws(RelayError) {
        do {
            let documents = try PEMDocument.parseMultiple(pemString: text)
            guard documents.count == 2 else { throw Unusable(description: "it has \(documents.count) parts") }
            let key = try P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString)
            let parsed = try Certificate(pemDocument: documents[1])
            guard parsed.publicKey == Certificate.PublicKey(key.publicKey) else {
                throw Unusable(description: "key and certificate do not belong together")
            }
            let der = documents[1].derBytes
            guard let id = RelayID(bytes: Array(SHA256.hash(data: der))) else {
                throw Unusable(description: "no hash")
            }
            self.id = id
            pem = text
            context = try Self.context(
                certificate: NIOSSLCertificate(bytes: der, format: .der),
                key: NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)
            )
        } catch {
            throw RelayError(
                .badIdentity,
                message: "The key for the relay is damaged and cannot be used.",
                underlying: error
            )
        }
    }

    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// TLS as relays speak it: 1.2 at least, and the client shows a certificate. The relay's own certificate is checked
    /// by whoever connects, in a callback.
    private static func context(certificate: NIOSSLCertificate, key: NIOSSLPrivateKey) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateChain = [.certificate(certificate)]
        configuration.privateKey = .privateKey(key)
        configuration.applicationProtocols = ["bep-relay"]
        // The callback takes the place of the name and the roots: those of the system are not even read.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        // A relay that has closed its side, or hangs, must not hold up the next connection for NIOSSL's 5 s.
        configuration.shutdownTimeout = .milliseconds(200)
        return try NIOSSLContext(configuration: configuration)
    }

    private static func makeFile() throws -> String {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("relay client") }
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
            extensions: try Certificate.Extensions { try ExtendedKeyUsage([.clientAuth]) },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        return key.pemRepresentation + "\n" + (try certificate.serializeAsPEM().pemString) + "\n"
    }
}
