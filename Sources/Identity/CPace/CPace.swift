internal import CSodium
internal import CompanionWire

/// CPACE-RISTR255-SHA512 (draft-irtf-cfrg-cpace): two sides that know the same low-entropy secret get the same key; a
/// peer that does not know it gets one guess per exchange. No I/O.
package enum CPace {
    /// Size of a share or another point, in bytes.
    package static let shareSize = Int(crypto_core_ristretto255_BYTES)
    /// Size of a scalar, in bytes.
    package static let scalarSize = Int(crypto_core_ristretto255_SCALARBYTES)

    static let domain: [UInt8] = Array("CPaceRistretto255".utf8)
    static let keyDomain: [UInt8] = Array("CPaceRistretto255_ISK".utf8)
    /// Size of SHA-512's input block, `s_in_bytes` of the draft.
    private static let hashBlock = 128

    /// The generator that both sides multiply. It is derived from the secret, so it is secret as well.
    ///
    /// - Parameters:
    ///   - prs: The password-related string.
    ///   - ci: The channel identifier.
    ///   - sid: The session id.
    /// - Returns: A point, 32 bytes.
    /// - Throws: ``KeyStoreError`` if libsodium fails.
    package static func generator(
        prs: borrowing SecretBytes,
        ci: [UInt8],
        sid: [UInt8]
    ) throws(KeyStoreError) -> SecretBytes {
        // lv_cat(DSI, PRS, zero bytes, CI, sid): the zeros fill the first block, so that the time for the later blocks
        // of the hash does not depend on the secret.
        let used = 1 + prs.count + leb128(prs.count).count + domain.count + leb128(domain.count).count
        let zeros = [UInt8](repeating: 0, count: max(0, hashBlock - used))
        var hash = try SecretHash()
        hash.update(lvCat(domain) + leb128(prs.count))
        hash.update(prs)
        hash.update(lvCat(zeros, ci, sid))
        let digest = try hash.finish()
        var point = try SecretBytes(count: shareSize)
        digest.withUnsafeBytes { digest in
            point.withUnsafeMutableBytes { point in
                _ = crypto_core_ristretto255_from_hash(
                    point.assumingMemoryBound(to: UInt8.self).baseAddress!,
                    digest.assumingMemoryBound(to: UInt8.self).baseAddress!
                )
            }
        }
        return point
    }

    /// `scalar · point`, the draft's `scalar_mult_vfy`.
    ///
    /// - Parameters:
    ///   - scalar: 32 bytes.
    ///   - point: 32 bytes.
    /// - Returns: A point, 32 bytes.
    /// - Throws: `badShare` if the point does not decode or the product is the neutral element, or if a size is wrong;
    ///   `library` if libsodium fails.
    package static func multiply(
        _ scalar: borrowing SecretBytes,
        point: borrowing SecretBytes
    ) throws(PairingExchangeError) -> SecretBytes {
        guard scalar.count == scalarSize, point.count == shareSize else {
            throw PairingExchangeError(.badShare, message: "a share has to have \(shareSize) bytes")
        }
        var product: SecretBytes
        do {
            product = try SecretBytes(count: shareSize)
        } catch {
            throw PairingExchangeError(error)
        }
        let result = scalar.withUnsafeBytes { scalar in
            point.withUnsafeBytes { point in
                product.withUnsafeMutableBytes { product in
                    crypto_scalarmult_ristretto255(
                        product.assumingMemoryBound(to: UInt8.self).baseAddress!,
                        scalar.assumingMemoryBound(to: UInt8.self).baseAddress!,
                        point.assumingMemoryBound(to: UInt8.self).baseAddress!
                    )
                }
            }
        }
        guard result == 0 else {
            throw PairingExchangeError(.badShare, message: "a share is the neutral element or no point of the group")
        }
        return product
    }
}
