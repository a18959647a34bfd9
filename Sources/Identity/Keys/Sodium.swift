internal import CSodium

/// libsodium, initialised once.
enum Sodium {
    /// `sodium_init` is thread-safe and returns -1 only if the system has no source of randomness.
    private static let isReady = sodium_init() >= 0

    static func requireReady() throws(KeyStoreError) {
        guard isReady else {
            throw KeyStoreError(.library, message: "libsodium could not start: no source of random numbers")
        }
    }
}

/// Digests of data that is not secret.
package enum Digest {
    /// SHA-256 (FIPS 180-4): 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return digest
    }
}

/// Unpredictable bytes from the system's generator.
package enum SecureRandom {
    /// Returns this many new bytes, which are good enough for keys and nonces.
    package static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }
}
