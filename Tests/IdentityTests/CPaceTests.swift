import CompanionWire
import Testing

@testable import Identity

/// The arithmetic, against the draft's own values.
@Suite struct CPaceTests {
    private typealias Vectors = CPaceVectors

    private func plain(_ secret: borrowing SecretBytes) -> [UInt8] {
        secret.withUnsafeBytes { Array($0) }
    }

    private func generator() throws -> SecretBytes {
        try CPace.generator(prs: SecretBytes(copying: Vectors.prs), ci: Vectors.ci, sid: Vectors.sid)
    }

    private func party(_ role: CPaceParty.Role) throws -> CPaceParty {
        let scalar = role == .initiator ? Vectors.scalarA : Vectors.scalarB
        return try CPaceParty(
            role: role,
            generator: generator(),
            sid: Vectors.sid,
            scalar: SecretBytes(copying: scalar)
        )
    }

    @Test("The generator is the draft's")
    func generatorVector() throws {
        let generator = try generator()
        #expect(plain(generator) == Vectors.generator)
    }

    @Test("A generator that needs more than one block of the hash is made without padding")
    func longSecret() throws {
        // 1 + 17 + 2 + 128 bytes are over the block already: no zeros are left to add.
        let long = [UInt8](repeating: 0x61, count: 128)
        let point = try CPace.generator(prs: SecretBytes(copying: long), ci: [], sid: [])
        var hash = try SecretHash()
        hash.update(lvCat(Array("CPaceRistretto255".utf8), long, [], [], []))
        let digest = try hash.finish()
        let mapped = plain(point)
        #expect(mapped == Ristretto.map(plain(digest)))
    }

    @Test("Shares, K and ISK are the draft's, on both sides")
    func exchangeVector() throws {
        let initiator = try party(.initiator)
        let responder = try party(.responder)
        #expect(initiator.share == Vectors.shareA)
        #expect(responder.share == Vectors.shareB)
        let productA = try CPace.multiply(
            SecretBytes(copying: Vectors.scalarA),
            point: SecretBytes(copying: Vectors.shareB)
        )
        let productB = try CPace.multiply(
            SecretBytes(copying: Vectors.scalarB),
            point: SecretBytes(copying: Vectors.shareA)
        )
        #expect(plain(productA) == Vectors.product)
        #expect(plain(productB) == Vectors.product)
        let data = (initiator: Vectors.dataA, responder: Vectors.dataB)
        let keyA = try initiator.finish(peerShare: Vectors.shareB, associatedData: data)
        let keyB = try responder.finish(peerShare: Vectors.shareA, associatedData: data)
        #expect(plain(keyA) == Vectors.key)
        #expect(plain(keyB) == Vectors.key)
    }

    @Test("The transcript is laid out as in the draft")
    func transcript() throws {
        var hash = try SecretHash()
        hash.update(Array("CPaceSidOutput".utf8))
        hash.update(lvCat(Vectors.shareA, Vectors.dataA) + lvCat(Vectors.shareB, Vectors.dataB))
        let output = try hash.finish()
        #expect(plain(output) == Vectors.sessionOutput)
    }

    @Test("The values of the symmetric setting, which pairing does not use, follow from the same shares and point")
    func symmetricSetting() throws {
        let product = try CPace.multiply(
            SecretBytes(copying: Vectors.scalarA),
            point: SecretBytes(copying: Vectors.shareB)
        )
        let sides = [lvCat(Vectors.shareA, Vectors.dataA), lvCat(Vectors.shareB, Vectors.dataB)]
        // Its transcript has the greater side first, whoever sent it.
        let ordered = sides.sorted { $1.lexicographicallyPrecedes($0) }
        let transcript = Array("oc".utf8) + ordered[0] + ordered[1]
        var key = try SecretHash()
        key.update(lvCat(Array("CPaceRistretto255_ISK".utf8), Vectors.sid, plain(product)))
        key.update(transcript)
        var output = try SecretHash()
        output.update(Array("CPaceSidOutput".utf8))
        output.update(transcript)
        let keyDigest = try key.finish()
        let outputDigest = try output.finish()
        #expect(plain(keyDigest) == Vectors.symmetricKey)
        #expect(plain(outputDigest) == Vectors.symmetricSessionOutput)
    }

    @Test("A valid point is multiplied as in the draft")
    func validPoint() throws {
        let product = try CPace.multiply(
            SecretBytes(copying: Vectors.validScalar),
            point: SecretBytes(copying: Vectors.validPoint)
        )
        #expect(plain(product) == Vectors.validProduct)
    }

    @Test(
        "The neutral element, bytes that are no point, and shares of another size are refused",
        arguments: [
            Vectors.neutral, Vectors.undecodable, [UInt8](repeating: 0xFF, count: 32), [],
            Array(Vectors.shareB.dropLast()),
            Vectors.shareB + [0],
        ]
    )
    func invalidPoints(point: [UInt8]) throws {
        for role in [CPaceParty.Role.initiator, .responder] {
            let party = try party(role)
            do throws(PairingExchangeError) {
                _ = try party.finish(peerShare: point, associatedData: ([], []))
                Issue.record("the point was taken")
            } catch {
                #expect(error.code == .badShare)
            }
        }
        let scalar = try SecretBytes(copying: Vectors.validScalar)
        do throws(PairingExchangeError) {
            _ = try CPace.multiply(scalar, point: Self.secret(point))
            Issue.record("the point was multiplied")
        } catch {
            #expect(error.code == .badShare)
        }
    }

    @Test("Each party has a scalar of its own")
    func randomScalars() throws {
        var shares: Set<[UInt8]> = []
        for _ in 0..<20 {
            let party = try CPaceParty(role: .initiator, generator: generator(), sid: Vectors.sid)
            shares.insert(party.share)
        }
        #expect(shares.count == 20)
    }

    private static func secret(_ bytes: [UInt8]) throws(PairingExchangeError) -> SecretBytes {
        do {
            return try SecretBytes(copying: bytes)
        } catch {
            throw PairingExchangeError(error)
        }
    }
}
