internal import CSodium
internal import CompanionWire

/// The identity of a device or host: the public half of its Ed25519 key pair.
package struct DeviceIdentity: Sendable, Hashable {
    /// 32 bytes.
    package let publicKey: [UInt8]

    /// The public key as it is sent: standard base64 with padding, 44 characters.
    package var publicKeyText: String { Base64.encode(publicKey) }

    init(publicKey: [UInt8]) {
        self.publicKey = publicKey
    }

    /// Reads a public key as it was received. Returns nil for anything but the base64 text of 32 bytes.
    package init?(publicKeyText: String) {
        guard let bytes = Base64.decode(publicKeyText), bytes.count == 32 else { return nil }
        publicKey = bytes
    }

    /// Whether a signature over a message was made with this identity's key.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        Ed25519.verify(signature: signature, message: message, publicKey: publicKey)
    }

    /// The id under which hosts list this device, or of this host.
    package var deviceID: String { Self.deviceID(publicKeyText: publicKeyText) }

    /// The id that hosts give to a device: the first 16 hex digits of SHA-256 over the trimmed text of its public key.
    package static func deviceID(publicKeyText: String) -> String {
        shortHash(publicKeyText.trimmingWhitespace())
    }

    /// The first 16 hex digits of SHA-256 over a text. It is a label and proves nothing.
    package static func shortHash(_ text: String) -> String {
        Digest.sha256(Array(text.utf8)).prefix(8).hexText
    }
}

/// Verifies signatures strictly (RFC 8032).
package enum Ed25519 {
    /// Whether a signature is genuine.
    ///
    /// libsodium refuses signatures whose S is not reduced (RFC 8032, 5.1.7), and keys and R of small order: no
    /// signature can be turned into another one for the same message, and no key is valid for many messages.
    ///
    /// - Returns: Also false if the signature does not have 64 bytes or the key does not have 32.
    package static func verify(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == Int(crypto_sign_BYTES), publicKey.count == Int(crypto_sign_PUBLICKEYBYTES) else {
            return false
        }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
