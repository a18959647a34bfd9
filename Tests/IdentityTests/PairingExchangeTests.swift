import CompanionWire
import Testing

@testable import Identity

extension PairingContext {
    /// A context of which every part can be changed.
    static func sample() -> PairingContext {
        PairingContext(
            clientNonce: Array(0..<16),
            hostNonce: Array(16..<32),
            spki: Array(32..<64),
            hostID: "00112233aabbccdd",
            hostPublicKey: Base64.encode([UInt8](repeating: 1, count: 32)),
            hostName: "Büro 🖥",
            devicePublicKey: Base64.encode([UInt8](repeating: 2, count: 32)),
            deviceName: "desk",
            permissions: [.chatCreate, .chatSend]
        )
    }
}

@Suite struct PairingExchangeTests {
    /// What both sides came to.
    private struct Ending {
        /// Whether the host takes the device's tag.
        var hostAgrees: Bool
        /// Whether the device would take the host's tag, if it got it.
        var deviceAgrees: Bool
        var tags: [[UInt8]]
    }

    private func exchange(
        _ secret: PairingSecret = .code("012345"),
        _ context: PairingContext = .sample(),
        host: (secret: PairingSecret, context: PairingContext)? = nil
    ) throws -> Ending {
        let initiator = try PairingInitiator(secret: secret, context: context)
        let responder = try PairingResponder(
            secret: host?.secret ?? secret,
            context: host?.context ?? context,
            deviceShare: initiator.share
        )
        let device = try initiator.receive(hostShare: responder.share)
        let answer = responder.confirm(deviceTag: device.own)
        #expect(answer == nil || answer == responder.tags.own)
        return Ending(
            hostAgrees: answer != nil,
            deviceAgrees: device.verifies(responder.tags.own),
            tags: [device.own, responder.tags.own]
        )
    }

    @Test("The same code or token convinces both sides, with tags of 64 bytes that differ")
    func agreement() throws {
        for secret in [PairingSecret.code("000000"), .code("999999"), .token(Base64URL.encode(SecureRandom.bytes(16)))]
        {
            let ending = try exchange(secret)
            #expect(ending.hostAgrees)
            #expect(ending.deviceAgrees)
            #expect(ending.tags.map(\.count) == [64, 64])
            #expect(ending.tags[0] != ending.tags[1])
        }
    }

    @Test("Both sides have the same key, and two exchanges with one code have two")
    func keys() throws {
        func key() throws -> [UInt8] {
            let prs = try SecretBytes(copying: "code:012345".utf8)
            let generator = try CPace.generator(prs: prs, ci: [1], sid: [2])
            let a = try CPaceParty(role: .initiator, generator: generator, sid: [2])
            let b = try CPaceParty(role: .responder, generator: generator, sid: [2])
            let (shareA, shareB) = (a.share, b.share)
            let keyA = try a.finish(peerShare: shareB, associatedData: ([3], [4])).withUnsafeBytes { Array($0) }
            let keyB = try b.finish(peerShare: shareA, associatedData: ([3], [4])).withUnsafeBytes { Array($0) }
            #expect(keyA == keyB)
            return keyA
        }
        let (one, two) = (try key(), try key())
        #expect(one != two)
    }

    @Test(
        "Another secret convinces neither side",
        arguments: [
            PairingSecret.code("012346"), .code("01234"), .code(""), .code("0123450"), .token("012345"),
            .code("٠١٢٣٤٥"),
        ]
    )
    func wrongSecret(secret: PairingSecret) throws {
        let ending = try exchange(host: (secret, .sample()))
        #expect(!ending.hostAgrees)
        #expect(!ending.deviceAgrees)
    }

    /// One change to each part of the context.
    private static let changes: [(String, @Sendable (inout PairingContext) -> Void)] = [
        ("client nonce", { $0.clientNonce[15] ^= 1 }), ("host nonce", { $0.hostNonce[0] ^= 0x80 }),
        ("nonces swapped", { ($0.clientNonce, $0.hostNonce) = ($0.hostNonce, $0.clientNonce) }),
        ("TLS key", { $0.spki[31] ^= 1 }), ("host id", { $0.hostID = "00112233aabbccde" }),
        ("host key", { $0.hostPublicKey = Base64.encode([UInt8](repeating: 3, count: 32)) }),
        ("host name", { $0.hostName = "Buro 🖥" }), ("host name, decomposed", { $0.hostName = "Bu\u{308}ro 🖥" }),
        ("device key", { $0.devicePublicKey = Base64.encode([UInt8](repeating: 3, count: 32)) }),
        ("device name", { $0.deviceName = "desk " }), ("order of permissions", { $0.permissions.reverse() }),
        ("more permissions", { $0.permissions.append(.projectCreate) }),
        ("fewer permissions", { $0.permissions.removeLast() }), ("no permissions", { $0.permissions = [] }),
        (
            "names and keys shifted",
            { ($0.deviceName, $0.devicePublicKey) = ($0.devicePublicKey, $0.deviceName) }
        ),
    ]

    @Test("A difference in anything that both sides saw convinces neither", arguments: changes.indices)
    func differences(index: Int) throws {
        let (name, change) = Self.changes[index]
        var context = PairingContext.sample()
        change(&context)
        let ending = try exchange(host: (.code("012345"), context))
        #expect(!ending.hostAgrees, "\(name)")
        #expect(!ending.deviceAgrees, "\(name)")
        #expect(try exchange(.code("012345"), context).hostAgrees, "\(name)")
    }

    @Test("A tag with any bit changed, cut, lengthened or empty is refused")
    func tags() throws {
        let initiator = try PairingInitiator(secret: .code("012345"), context: .sample())
        let responder = try PairingResponder(
            secret: .code("012345"),
            context: .sample(),
            deviceShare: initiator.share
        )
        let device = try initiator.receive(hostShare: responder.share)
        for bit in 0..<512 {
            var tag = device.own
            tag[bit / 8] ^= 1 << (bit % 8)
            #expect(responder.confirm(deviceTag: tag) == nil)
        }
        for tag in [[], Array(device.own.dropLast()), device.own + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(responder.confirm(deviceTag: tag) == nil)
        }
        // Neither side's own tag convinces it when it comes back.
        #expect(responder.confirm(deviceTag: responder.tags.own) == nil)
        #expect(!device.verifies(device.own))
        #expect(responder.confirm(deviceTag: device.own) != nil)
    }

    @Test("A share that is sent back to the device is refused")
    func reflection() throws {
        let initiator = try PairingInitiator(secret: .code("012345"), context: .sample())
        let share = initiator.share
        do throws(PairingExchangeError) {
            _ = try initiator.receive(hostShare: share)
            Issue.record("the device's own share was taken")
        } catch {
            #expect(error.code == .badShare)
        }
    }

    @Test(
        "A host refuses the neutral element and bytes that are no point",
        arguments: [CPaceVectors.neutral, CPaceVectors.undecodable, []]
    )
    func badShares(share: [UInt8]) {
        let error = #expect(throws: PairingExchangeError.self) {
            try PairingResponder(secret: .code("012345"), context: .sample(), deviceShare: share)
        }
        #expect(error?.code == .badShare)
    }

    @Test("Nonces and pins of another size, and ambiguous permissions, are refused")
    func badContext() {
        let changes: [(inout PairingContext) -> Void] = [
            { $0.clientNonce.append(0) }, { $0.hostNonce = [] }, { $0.spki.removeLast() },
            { $0.permissions = [CompanionPermission(rawValue: "chat.send,project.create")] },
            { $0.permissions = [CompanionPermission(rawValue: "")] },
        ]
        for change in changes {
            var context = PairingContext.sample()
            change(&context)
            let error = #expect(throws: PairingExchangeError.self) {
                try PairingResponder(secret: .code("012345"), context: context, deviceShare: CPaceVectors.validPoint)
            }
            #expect(error?.code == .badContext)
        }
    }
}
