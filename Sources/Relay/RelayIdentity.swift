package import CompanionWire
import Identity
import NIOCore
import NIOSSL

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
        try RelayIdentity(failure: "No key for the relay could be made.") {
            try SelfSignedCertificate(name: "relay client", for: .client)
        }
    }

    /// Reads what ``pem`` has given.
    ///
    /// - Throws: ``RelayError/Code/badIdentity`` for text that is not a P-256 key followed by its own certificate.
    package init(pem text: String) throws(RelayError) {
        try self.init(failure: "The key for the relay is damaged and cannot be used.") {
            try SelfSignedCertificate(pem: text)
        }
    }

    private init(failure: String, _ make: () throws -> SelfSignedCertificate) throws(RelayError) {
        do {
            let own = try make()
            id = RelayID(certificate: own.der)
            pem = own.pem
            context = try Self.context(
                certificate: NIOSSLCertificate(bytes: own.der, format: .der),
                key: NIOSSLPrivateKey(bytes: own.privateKey, format: .der)
            )
        } catch {
            throw RelayError(.badIdentity, message: failure, underlying: error)
        }
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
}

extension RelayID {
    /// The id of a certificate in DER.
    init(certificate der: [UInt8]) {
        guard let id = RelayID(bytes: Digest.sha256(der)) else { preconditionFailure("SHA-256 gives 32 bytes") }
        self = id
    }
}
