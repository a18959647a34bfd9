internal import CSodium
internal import CompanionWire

/// One side of a CPace exchange that has sent its share and waits for the other's. Used up by ``finish(peerShare:)``.
package struct CPaceParty: ~Copyable, Sendable {
    package enum Role: Sendable {
        /// A, whose share comes first.
        case initiator
        /// B.
        case responder
    }

    let role: Role
    private let sid: [UInt8]
    private let scalar: SecretBytes
    /// Ya or Yb: what the other side gets.
    package let share: [UInt8]

    /// - Parameters:
    ///   - generator: What ``CPace/generator(prs:ci:sid:)`` gave.
    ///   - sid: The session id that went into the generator.
    ///   - scalar: 32 bytes, reduced. Default: random, as every exchange but a test vector's needs it.
    package init(
        role: Role,
        generator: borrowing SecretBytes,
        sid: [UInt8],
        scalar: consuming SecretBytes? = nil
    ) throws(PairingExchangeError) {
        var own: SecretBytes
        if let given = scalar {
            own = given
        } else {
            do {
                own = try SecretBytes(count: CPace.scalarSize)
            } catch {
                throw PairingExchangeError(error)
            }
            // Uniform among 1 … order - 1.
            own.withUnsafeMutableBytes {
                crypto_core_ristretto255_scalar_random($0.assumingMemoryBound(to: UInt8.self).baseAddress!)
            }
        }
        share = try CPace.multiply(own, generator).withUnsafeBytes { Array($0) }
        self.role = role
        self.sid = sid
        self.scalar = own
    }

    /// The key of both sides, if both have the same secret, and the scalar is gone.
    ///
    /// - Parameters:
    ///   - peerShare: What the other side sent.
    ///   - associatedData: What both sides say beside their shares: ADa and ADb.
    /// - Returns: ISK, 64 bytes, in the initiator-responder setting.
    /// - Throws: `badShare` for the neutral element, for what is no point, and for this side's own share.
    package consuming func finish(
        peerShare: [UInt8],
        associatedData: (initiator: [UInt8], responder: [UInt8])
    ) throws(PairingExchangeError) -> SecretBytes {
        // Somebody who sends a share back knows nothing, and is told so at once.
        guard peerShare != share else { throw PairingExchangeError(.badShare, "a share was sent back to its sender") }
        do {
            let product = try CPace.multiply(scalar, SecretBytes(copying: peerShare))
            let shares = role == .initiator ? (share, peerShare) : (peerShare, share)
            // H(lv_cat(DSI, sid, K) || lv_cat(Ya, ADa) || lv_cat(Yb, ADb))
            var hash = try SecretHash()
            hash.update(lvCat(CPace.keyDomain, sid) + leb128(product.count))
            hash.update(product)
            hash.update(lvCat(shares.0, associatedData.initiator) + lvCat(shares.1, associatedData.responder))
            return try hash.finish()
        } catch let error as KeyStoreError {
            throw PairingExchangeError(error)
        } catch let error as PairingExchangeError {
            throw error
        } catch {
            throw PairingExchangeError(.library, "\(error)")
        }
    }
}
