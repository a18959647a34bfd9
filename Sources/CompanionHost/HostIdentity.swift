import CompanionWire

/// The identity by which devices know this host (companion-v2, Identities).
package struct HostIdentity: Sendable, Hashable {
    /// First 16 hex digits of SHA-256 over ``publicKey``: a label, not a proof.
    package var id: String
    /// The Ed25519 key as it goes over the wire: standard base64.
    package var publicKey: String
    /// The name that people see.
    package var name: String
    /// SHA-256 over the TLS key's SubjectPublicKeyInfo: 32 bytes.
    package var spki: [UInt8]

    /// The TLS key's pin as it is written: base64url, 43 characters.
    package var pin: String { Base64URL.encode(spki) }
}

/// The TCP ports that a host listens on.
package struct HostPorts: Sendable, Hashable {
    /// The port of plain HTTP.
    package var plain: Int
    /// The port of HTTPS.
    package var secure: Int

    package init(plain: Int, secure: Int) {
        self.plain = plain
        self.secure = secure
    }
}
