import CompanionWire
import Testing

@testable import Identity

/// What somebody has who recorded all that crossed the wire: nonces, names, keys, both shares and both tags.
@Suite struct RecordedExchangeTests {
    private struct Recording {
        var deviceShare: [UInt8]
        var hostShare: [UInt8]
        var deviceTag: [UInt8]
        var hostTag: [UInt8]
    }

    private static let code = PairingSecret.code("012345")
    private static let guesses: [PairingSecret] = [.code("012345"), .code("012346"), .code("999999")]

    /// Records an exchange with the right code on both sides.
    private func record(deviceScalar: [UInt8]) throws -> Recording {
        let initiator = try PairingInitiator(
            secret: Self.code,
            context: .sample(),
            scalar: SecretBytes(copying: deviceScalar)
        )
        let deviceShare = initiator.share
        let responder = try PairingResponder(secret: Self.code, context: .sample(), deviceShare: deviceShare)
        let device = try initiator.receive(hostShare: responder.share)
        let hostTag = try #require(responder.confirm(deviceTag: device.own))
        return Recording(
            deviceShare: deviceShare,
            hostShare: responder.share,
            deviceTag: device.own,
            hostTag: hostTag
        )
    }

    @Test("Every pair of shares fits every code: scalars exist for each, and their keys differ")
    func sharesFitEveryCode() throws {
        // The logarithm of a real generator is known to nobody. Generators made from known logarithms stand for those
        // of two codes here, so that the second code's scalars can be computed instead of only existing.
        let (s, t) = (Ristretto.randomScalar(), Ristretto.randomScalar())
        let (a, b) = (Ristretto.randomScalar(), Ristretto.randomScalar())
        func run(_ logarithm: [UInt8], _ a: [UInt8], _ b: [UInt8]) throws -> (shares: [[UInt8]], key: [UInt8]) {
            let generator = try SecretBytes(copying: Ristretto.base(logarithm))
            let one = try CPaceParty(role: .initiator, generator: generator, sid: [], scalar: SecretBytes(copying: a))
            let two = try CPaceParty(role: .responder, generator: generator, sid: [], scalar: SecretBytes(copying: b))
            let shares = [one.share, two.share]
            let key = try one.finish(peerShare: shares[1], associatedData: ([], []))
            return (shares, key.withUnsafeBytes { Array($0) })
        }
        let first = try run(s, a, b)
        let second = try run(t, Ristretto.quotient(a, s, t), Ristretto.quotient(b, s, t))
        #expect(first.shares == second.shares)
        #expect(first.key != second.key)
    }

    @Test("Without a scalar the right code fits a recording no better than a wrong one", arguments: guesses)
    func guessing(guess: PairingSecret) throws {
        let recording = try record(deviceScalar: Ristretto.randomScalar())
        // What can be computed from a guess: an exchange of one's own with either recorded share.
        let host = try PairingResponder(secret: guess, context: .sample(), deviceShare: recording.deviceShare)
        #expect(host.confirm(deviceTag: recording.deviceTag) == nil)
        #expect(host.tags.own != recording.hostTag)
        #expect(host.share != recording.hostShare)
        let device = try PairingInitiator(secret: guess, context: .sample())
        #expect(device.share != recording.deviceShare)
        let tags = try device.receive(hostShare: recording.hostShare)
        #expect(!tags.verifies(recording.hostTag))
        #expect(tags.own != recording.deviceTag)
    }

    @Test("It is the scalar that is missing: with it, the right code fits and the others do not")
    func leakedScalar() throws {
        let scalar = Ristretto.randomScalar()
        let recording = try record(deviceScalar: scalar)
        let fits = try Self.guesses.map { guess in
            let device = try PairingInitiator(
                secret: guess,
                context: .sample(),
                scalar: SecretBytes(copying: scalar)
            )
            return try device.receive(hostShare: recording.hostShare).verifies(recording.hostTag)
        }
        #expect(fits == [true, false, false])
    }

    @Test("Two exchanges with one code have nothing in common on the wire")
    func nothingRepeats() throws {
        let one = try record(deviceScalar: Ristretto.randomScalar())
        let two = try record(deviceScalar: Ristretto.randomScalar())
        let all = [one, two].flatMap { [$0.deviceShare, $0.hostShare, $0.deviceTag, $0.hostTag] }
        #expect(Set(all).count == 8)
    }
}
