package import CompanionWire

/// The device's side of a pairing (companion-v2, Pairing), without any I/O. Used up by ``receive(hostShare:)``.
package struct PairingInitiator: ~Copyable, Sendable {
    private let party: CPaceParty
    private let context: PairingContext
    package let method: PairingMethod
    /// Ya, 32 bytes.
    package let share: [UInt8]

    /// - Parameter scalar: Only for test vectors. Default: random.
    /// - Throws: ``PairingExchangeError``.
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

    /// Takes the host's share. The scalar is gone afterwards.
    ///
    /// - Throws: ``PairingExchangeError`` with `badShare`.
    package consuming func receive(hostShare: [UInt8]) throws(PairingExchangeError) -> PairingTags {
        try PairingTags(
            party: party,
            peerShare: hostShare,
            context: context,
            method: method
        )
    }
}

/// The host's side of a pairing (companion-v2, Pairing), without any I/O, after it has the device's share.
///
/// It holds the two tags and nothing else that is secret. The caller sees to it that a device gets one try with it.
package struct PairingResponder: Sendable {
    /// Yb, 32 bytes.
    package let share: [UInt8]
    let tags: PairingTags

    /// - Parameters:
    ///   - deviceShare: Ya, as it came.
    ///   - scalar: Only for test vectors. Default: random.
    /// - Throws: ``PairingExchangeError``.
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

    /// The host's tag Tb, but only for a device that has proven itself.
    ///
    /// - Parameter deviceTag: Ta, as it came.
    /// - Returns: 64 bytes; nil where the device does not know the secret, or anything in the contexts differs.
    package func confirm(deviceTag: [UInt8]) -> [UInt8]? {
        tags.verifies(deviceTag) ? tags.own : nil
    }
}

/// The tags with which both sides show each other that they have the same key.
package final class PairingTags: Sendable {
    /// What this side sends: 64 bytes.
    package let own: [UInt8]
    private let expected: SecretBytes

    /// Takes the other side's share, makes ISK and both tags of it, and keeps the tags alone.
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
            own = try SecretHash.hmac(key: macKey, lvCat(ownShare, ownData)).withUnsafeBytes { Array($0) }
            expected = try SecretHash.hmac(key: macKey, lvCat(peerShare, peerData))
        } catch {
            throw PairingExchangeError(error)
        }
    }

    /// Whether the other side's tag proves that it has the same key, compared in constant time.
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
