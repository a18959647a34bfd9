package import CompanionWire

/// The device's side of a pairing (companion-v2, Pairing), without any I/O. ``receive(hostShare:)`` consumes it.
package struct PairingInitiator: ~Copyable, Sendable {
    private let party: CPaceParty
    private let context: PairingContext
    /// The method of the secret, to be sent with the share.
    package let method: PairingMethod
    /// Ya, 32 bytes.
    package let share: [UInt8]

    /// - Parameter scalar: Only for test vectors. Default: random.
    /// - Throws: ``PairingExchangeError`` with `badContext` if the protocol does not allow the context, or with
    ///   `library` if libsodium fails.
    package init(
        secret: PairingSecret,
        context: PairingContext,
        scalar: consuming SecretBytes? = nil
    ) throws(PairingExchangeError) {
        party = try CPaceParty(role: .initiator, secret: secret, context: context, scalar: scalar)
        share = party.share
        self.context = context
        method = secret.method
    }

    /// Takes the host's share. Wipes the scalar.
    ///
    /// - Parameter hostShare: Yb, as received.
    /// - Throws: ``PairingExchangeError``: `badShare` for a share that is not valid, `library` if libsodium fails.
    package consuming func receive(hostShare: [UInt8]) throws(PairingExchangeError) -> PairingTags {
        try PairingTags(
            party: party,
            peerShare: hostShare,
            context: context,
            method: method
        )
    }
}

/// The host's side of a pairing (companion-v2, Pairing), without any I/O, once it has the device's share.
///
/// The two tags are the only secrets that it holds. The caller has to allow a device only one try.
package struct PairingResponder: Sendable {
    /// Yb, 32 bytes.
    package let share: [UInt8]
    let tags: PairingTags

    /// - Parameters:
    ///   - deviceShare: Ya, as received.
    ///   - scalar: Only for test vectors. Default: random.
    /// - Throws: ``PairingExchangeError``: `badContext` if the protocol does not allow the context, `badShare` for a
    ///   share that is not valid, `library` if libsodium fails.
    package init(
        secret: PairingSecret,
        context: PairingContext,
        deviceShare: [UInt8],
        scalar: consuming SecretBytes? = nil
    ) throws(PairingExchangeError) {
        let party = try CPaceParty(role: .responder, secret: secret, context: context, scalar: scalar)
        share = party.share
        tags = try PairingTags(party: party, peerShare: deviceShare, context: context, method: secret.method)
    }

    /// The host's tag Tb, but only for a device that has proven that it knows the secret.
    ///
    /// - Parameter deviceTag: Ta, as received.
    /// - Returns: 64 bytes; nil if the device does not know the secret, or if the contexts differ.
    package func confirm(deviceTag: [UInt8]) -> [UInt8]? {
        tags.verifies(deviceTag) ? tags.own : nil
    }
}

/// The tags by which both sides prove to each other that they have the same key.
package final class PairingTags: Sendable {
    /// This side's tag, to be sent: 64 bytes.
    package let own: [UInt8]
    private let expected: SecretBytes

    /// Takes the other side's share, derives ISK and both tags from it, and keeps only the tags.
    fileprivate init(
        party: consuming CPaceParty,
        peerShare: [UInt8],
        context: PairingContext,
        method: PairingMethod
    ) throws(PairingExchangeError) {
        let ownShare = party.share
        let isInitiator = party.role == .initiator
        let data = (initiator: context.deviceData(method: method), responder: context.hostData)
        let key = try party.finish(peerShare: peerShare, associatedData: data)
        do {
            // mac_key = SHA-512("CPaceMac" || sid || ISK)
            var hash = try SecretHash()
            hash.update(Array("CPaceMac".utf8) + context.sid)
            hash.update(key)
            let macKey = try hash.finish()
            let (ownData, peerData) = isInitiator ? (data.initiator, data.responder) : (data.responder, data.initiator)
            own = try SecretHash.hmac(key: macKey, of: lvCat(ownShare, ownData)).withUnsafeBytes { Array($0) }
            expected = try SecretHash.hmac(key: macKey, of: lvCat(peerShare, peerData))
        } catch {
            throw PairingExchangeError(error)
        }
    }

    /// Whether the other side's tag proves that it has the same key. Compares in constant time.
    package func verifies(_ peerTag: [UInt8]) -> Bool {
        expected.isEqual(to: peerTag)
    }
}

extension CPaceParty {
    fileprivate init(
        role: Role,
        secret: PairingSecret,
        context: PairingContext,
        scalar: consuming SecretBytes?
    ) throws(PairingExchangeError) {
        try context.check()
        let generator: SecretBytes
        do {
            generator = try CPace.generator(
                prs: secret.passwordRelatedString(),
                ci: context.channelIdentifier,
                sid: context.sid
            )
        } catch {
            throw PairingExchangeError(error)
        }
        try self.init(role: role, generator: generator, sid: context.sid, scalar: scalar)
    }
}
