import Identity
import LocalState
import NIOCore
import NIOSSL

/// The host's TLS identity: a P-256 key with a self-signed certificate, made at first start.
///
/// Companions pin the key (companion-v2, Identities), so the names and dates in the certificate mean nothing. The file
/// is PEM, the key and then the certificate, mode 0600.
package struct HostCertificate: Sendable {
    /// The file's name, beside the host's own key.
    package static let fileName = "tls.pem"

    /// SHA-256 over the DER SubjectPublicKeyInfo: 32 bytes.
    package let spki: [UInt8]
    /// The certificate's DER.
    package let der: [UInt8]
    private let certificate: NIOSSLCertificate
    private let privateKey: NIOSSLPrivateKey

    /// Reads the certificate; at first use a key and a certificate are made.
    ///
    /// Two processes that make one at the same time end with the same one.
    ///
    /// - Parameter directory: Made (0700) when it is missing.
    /// - Throws: ``CompanionHostError/Code/keyUnusable``, with the way out.
    package init(directory: String) throws(CompanionHostError) {
        let path = directory + "/" + Self.fileName
        if let text = try Self.read(path) {
            try self.init(pem: text, path: path)
            return
        }
        try Self.create(path)
        guard let text = try Self.read(path) else {
            throw CompanionHostError(.keyUnusable, "The file \(path) was removed while it was being made.")
        }
        try self.init(pem: text, path: path)
    }

    init(pem text: String, path: String) throws(CompanionHostError) {
        do {
            let own = try SelfSignedCertificate(pem: text)
            (spki, der) = (own.spki, own.der)
            certificate = try NIOSSLCertificate(bytes: own.der, format: .der)
            privateKey = try NIOSSLPrivateKey(bytes: own.privateKey, format: .der)
        } catch {
            throw CompanionHostError(
                .keyUnusable,
                "The host's TLS key \(path) is damaged. Restore it from a backup; or move it away "
                    + "(mv '\(path)' '\(path).damaged') for a new one, and pair every device again.",
                underlying: error
            )
        }
    }

    /// TLS 1.3 and nothing older. Devices prove who they are with their keys, not with certificates.
    var serverConfiguration: TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = .tlsv13
        configuration.certificateVerification = .none
        configuration.applicationProtocols = ["http/1.1"]
        // Who does not say goodbye, or is not listened to any more, must not hold up a revocation or the end of the
        // host.
        configuration.shutdownTimeout = .milliseconds(500)
        return configuration
    }

    /// The file's text; nil where there is none.
    private static func read(_ path: String) throws(CompanionHostError) -> String? {
        do {
            return try PrivateFile.readOwned(path, limit: 16 << 10).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            let text =
                switch error {
                case .noFile: "\(path) is not a file: move it away and try again."
                case .otherOwner:
                    "The host's TLS key \(path) belongs to another user. Check who put it there, then: "
                        + "chown $(id -u) '\(path)'"
                case .openToOthers:
                    "The host's TLS key \(path) can be read or changed by other users. If nobody else has used it: "
                        + "chmod 600 '\(path)'; otherwise move it away and pair every device again."
                case .unreadable(let message): "The host's TLS key \(path) cannot be read: \(message)."
                }
            throw CompanionHostError(.keyUnusable, text)
        }
    }

    private static func create(_ path: String) throws(CompanionHostError) {
        do {
            let own = try SelfSignedCertificate(name: "pairtool host", for: .server)
            try Array(own.pem.utf8).withUnsafeBytes { bytes in
                try PrivateFile.write(bytes, to: path, replacing: false)
            }
        } catch {
            throw CompanionHostError(.keyUnusable, "The host's TLS key \(path) cannot be made.", underlying: error)
        }
    }
}
