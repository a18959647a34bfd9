internal import CSodium
internal import CompanionWire

/// One side of a CPace exchange that has sent its share and waits for the other side's. ``finish(peerShare:)`` consumes
/// it.
package struct CPaceParty: ~Copyable, Sendable {
    /// The side of an exchange, which decides the order of the shares in the shared key.
    package enum Role: Sendable {
        /// A: its share comes first.
        case initiator
        /// B: its share comes second.
        case responder
    }

    let role: Role
    private let sid: [UInt8]
    private let scalar: SecretBytes
    /// Ya or Yb, to be sent to the other side.
    package let share: [UInt8]

    /// - Parameters:
    ///   - generator: The result of ``CPace/generator(prs:ci:sid:)``.
    ///   - sid: The session id that went into the generator.
    ///   - scalar: 32 bytes, reduced. Default: random. Only test vectors may pass one.
    /// - Throws: `badShare` if the generator is not a point of the group; `library` if libsodium fails.
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
        share = try CPace.multiply(own, point: generator).withUnsafeBytes { Array($0) }
        self.role = role
        self.sid = sid
        self.scalar = own
    }

    /// Computes the shared key, which is the same on both sides if they have the same secret. Wipes the scalar.
    ///
    /// - Parameters:
    ///   - peerShare: The other side's share.
    ///   - associatedData: The data that both sides send with their shares: ADa and ADb.
    /// - Returns: ISK, 64 bytes, in the initiator-responder setting.
    /// - Throws: `badShare` for the neutral element, for bytes that are not a point, and for this side's own share;
    ///   `library` if libsodium fails.
    package consuming func finish(
        peerShare: [UInt8],
        associatedData: (initiator: [UInt8], responder: [UInt8])
    ) throws(PairingExchangeError) -> SecretBytes {
        // A peer that sends our own share back does not know the secret; fail at once.
        guard peerShare != share else {
            throw PairingExchangeError(.badShare, message: "a share was sent back to its sender")
        }
        do {
            let product = try CPace.multiply(scalar, point: SecretBytes(copying: peerShare))
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
            throw PairingExchangeError(.library, message: "\(error)")
        }
    }
}
