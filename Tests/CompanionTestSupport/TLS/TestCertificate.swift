import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// A self-signed certificate as hosts have it, made anew for every test.
package struct TestCertificate: Sendable {
    package let der: [UInt8]
    /// SHA-256 over the SubjectPublicKeyInfo, base64url without padding.
    package let spki: String
    private let key: [UInt8]

    /// Makes a new key, and a certificate that is valid from 2000 to 9999.
    package init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("test host") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: 946_684_800),
            notValidAfter: Date(timeIntervalSince1970: 253_402_300_799),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions(),
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        der = try certificate.serializeAsPEM().derBytes
        spki = Self.pin(of: key)
        self.key = Array(key.derRepresentation)
    }

    /// The certificate of a host's own file: its key, then the certificate, in PEM.
    package init(hostFile path: String) throws {
        let documents = try PEMDocument.parseMultiple(pemString: String(contentsOfFile: path, encoding: .utf8))
        let key = try P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString)
        der = documents[1].derBytes
        spki = Self.pin(of: key)
        self.key = Array(key.derRepresentation)
    }

    /// The content of a host's own file: its key, then the certificate, in PEM.
    package var hostFile: String {
        [("PRIVATE KEY", key), ("CERTIFICATE", der)].map {
            PEMDocument(type: $0, derBytes: $1).pemString + "\n"
        }.joined()
    }

    private static func pin(of key: P256.Signing.PrivateKey) -> String {
        Data(SHA256.hash(data: key.publicKey.derRepresentation)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns the TLS context of a server with this certificate.
    ///
    /// - Parameters:
    ///   - oldest: The oldest version of TLS that it speaks. Default: TLS 1.3.
    ///   - newest: The newest version that it speaks. Default: nil, the newest that there is.
    func serverContext(oldest: TLSVersion = .tlsv13, newest: TLSVersion? = nil) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .der))
        )
        configuration.minimumTLSVersion = oldest
        configuration.maximumTLSVersion = newest
        return try NIOSSLContext(configuration: configuration)
    }
}
