internal import CSodium

/// SHA-512 (FIPS 180-4) over secrets. Its state is also in locked memory, and is wiped.
struct SecretHash: ~Copyable {
    private var state: SecretBytes

    init() throws(KeyStoreError) {
        state = try SecretBytes(count: crypto_hash_sha512_statebytes())
        state.withUnsafeMutableBytes { _ = crypto_hash_sha512_init(Self.state($0)) }
    }

    mutating func update(_ bytes: [UInt8]) {
        state.withUnsafeMutableBytes { _ = crypto_hash_sha512_update(Self.state($0), bytes, UInt64(bytes.count)) }
    }

    mutating func update(_ secret: borrowing SecretBytes) {
        secret.withUnsafeBytes { bytes in
            state.withUnsafeMutableBytes { state in
                let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                _ = crypto_hash_sha512_update(Self.state(state), start, UInt64(bytes.count))
            }
        }
    }

    /// The digest, 64 bytes.
    consuming func finish() throws(KeyStoreError) -> SecretBytes {
        var digest = try SecretBytes(count: Int(crypto_hash_sha512_BYTES))
        digest.withUnsafeMutableBytes { digest in
            state.withUnsafeMutableBytes { state in
                _ = crypto_hash_sha512_final(
                    Self.state(state),
                    digest.assumingMemoryBound(to: UInt8.self).baseAddress!
                )
            }
        }
        return digest
    }

    private static func state(_ bytes: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<crypto_hash_sha512_state>
    {
        bytes.baseAddress!.assumingMemoryBound(to: crypto_hash_sha512_state.self)
    }

    /// HMAC-SHA-512 (RFC 2104) of a message under a secret key: 64 bytes.
    static func hmac(key: borrowing SecretBytes, of message: [UInt8]) throws(KeyStoreError) -> SecretBytes {
        var state = try SecretBytes(count: crypto_auth_hmacsha512_statebytes())
        var tag = try SecretBytes(count: Int(crypto_auth_hmacsha512_BYTES))
        key.withUnsafeBytes { key in
            state.withUnsafeMutableBytes { state in
                tag.withUnsafeMutableBytes { tag in
                    let state = state.baseAddress!.assumingMemoryBound(to: crypto_auth_hmacsha512_state.self)
                    let key = key.assumingMemoryBound(to: UInt8.self)
                    crypto_auth_hmacsha512_init(state, key.baseAddress!, key.count)
                    crypto_auth_hmacsha512_update(state, message, UInt64(message.count))
                    crypto_auth_hmacsha512_final(state, tag.assumingMemoryBound(to: UInt8.self).baseAddress!)
                }
            }
        }
        return tag
    }
}
