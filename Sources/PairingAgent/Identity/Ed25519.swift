internal import CSodium

/// Signatures by RFC 8032, checked strictly.
package enum Ed25519 {
    /// Whether a signature is genuine.
    ///
    /// libsodium refuses signatures whose S is not reduced (RFC 8032, 5.1.7) and keys and R of small order: no
    /// signature can be turned into another one for the same message, and no key fits many messages.
    ///
    /// - Returns: False, too, where the signature has not 64 bytes or the key not 32.
    package static func verify(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == Int(crypto_sign_BYTES), publicKey.count == Int(crypto_sign_PUBLICKEYBYTES) else {
            return false
        }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }
}
