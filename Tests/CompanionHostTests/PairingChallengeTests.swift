import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

@Suite("The pairing state machine")
struct PairingChallengeTests {
    private let start = Date(timeIntervalSince1970: 1000)

    /// The machine behind a reference: expectations cannot change a value.
    private final class Machine {
        var challenge = PairingChallenge()

        func judge(code: String, token: String?, publicKey: String, now: Date) -> PairingChallenge.Verdict {
            challenge.judge(code: code, token: token, publicKey: publicKey, now: now)
        }

        func expire(now: Date) -> Bool { challenge.expire(now: now) }
    }

    private func challenge() -> Machine {
        let machine = Machine()
        machine.challenge.start(code: "123456", token: "token", seconds: 60, now: start)
        return machine
    }

    @Test("Checks come in the order of deployed hosts")
    func order() {
        let empty = Machine()
        #expect(empty.judge(code: "123456", token: nil, publicKey: "", now: start) == .noActivePairing)
        let late = challenge()
        #expect(late.judge(code: "wrong", token: "x", publicKey: "", now: start + 60) == .expired)
        let first = challenge()
        #expect(first.judge(code: "000000", token: "x", publicKey: "", now: start) == .wrongCode(triesLeft: 2))
        #expect(first.judge(code: "123456", token: "x", publicKey: "", now: start) == .wrongToken(triesLeft: 1))
        #expect(first.judge(code: "123456", token: "token", publicKey: "", now: start) == .missingPublicKey)
        #expect(first.judge(code: "123456", token: "", publicKey: "k", now: start) == .accepted)
    }

    @Test("A missing key costs no try, and neither does an absent or empty token")
    func noTryLost() {
        let challenge = challenge()
        for _ in 0..<5 {
            #expect(challenge.judge(code: "123456", token: nil, publicKey: "", now: start) == .missingPublicKey)
        }
        #expect(challenge.judge(code: "123456", token: nil, publicKey: "k", now: start) == .accepted)
    }

    @Test("A challenge is single use")
    func singleUse() {
        let challenge = challenge()
        #expect(challenge.judge(code: "123456", token: nil, publicKey: "k", now: start) == .accepted)
        #expect(challenge.judge(code: "123456", token: nil, publicKey: "k", now: start) == .noActivePairing)
    }

    @Test("Three wrong tries end it, whatever was wrong")
    func threeTries() {
        let challenge = challenge()
        #expect(challenge.judge(code: "000000", token: nil, publicKey: "k", now: start) == .wrongCode(triesLeft: 2))
        #expect(challenge.judge(code: "123456", token: "x", publicKey: "k", now: start) == .wrongToken(triesLeft: 1))
        #expect(challenge.judge(code: "", token: nil, publicKey: "k", now: start) == .wrongCode(triesLeft: 0))
        #expect(challenge.challenge.offer == nil)
        #expect(challenge.judge(code: "123456", token: nil, publicKey: "k", now: start) == .noActivePairing)
    }

    @Test("The code of an expired challenge is told from a wrong one, and costs no try of the next")
    func lateCode() {
        let challenge = challenge()
        #expect(!challenge.expire(now: start + 59))
        #expect(challenge.expire(now: start + 60))
        challenge.challenge.start(code: "654321", token: "other", seconds: 60, now: start + 60)
        for _ in 0..<4 {
            #expect(challenge.judge(code: "123456", token: nil, publicKey: "k", now: start + 61) == .expired)
        }
        #expect(challenge.judge(code: "654321", token: nil, publicKey: "k", now: start + 61) == .accepted)
    }

    @Test(
        "The lifetime is truncated and clamped to 60…900, and 300 without a number",
        arguments: [
            (nil, 300), (0, 60), (59.9, 60), (61.9, 61), (900.5, 900), (1e300, 900), (-1e300, 60),
            (Double.nan, 300), (Double.infinity, 900),
        ] as [(Double?, Int)]
    )
    func clamp(seconds: Double?, expected: Int) {
        #expect(CompanionPairingService.clamped(ttlSeconds: seconds) == expected)
    }
}

@Suite("Guesses that open exchanges hold")
struct PairingReservationTests {
    private let start = Date(timeIntervalSince1970: 1000)
    private var exchanges = PairingExchanges<Int>()

    private mutating func hold(_ id: String, from address: String, challenge: Int = 1, at seconds: Double = 0) -> Bool {
        let now = start.addingTimeInterval(seconds)
        let exchange = PairingExchanges<Int>.Exchange(
            id: id,
            challenge: challenge,
            address: address,
            clientNonce: [],
            hostNonce: [],
            startedAt: now,
            deadline: now.addingTimeInterval(300)
        )
        guard exchanges.add(exchange), exchanges.reserve(exchange, guesses: 3, now: now) else { return false }
        let share = PairingExchanges<Int>.Share(
            method: .code,
            deviceName: "",
            devicePublicKey: "",
            permissions: [],
            secret: 0
        )
        exchanges.setShare(share, of: id, now: now)
        return true
    }

    @Test("A machine that holds several guesses gives one to another machine, not to itself")
    mutating func greedy() {
        let first = ["a", "b", "c", "d"].enumerated().map { hold($1, from: "mallory", at: Double($0) / 10) }
        #expect(first == [true, true, true, false])
        let other = hold("e", from: "alice", at: 0.5)
        #expect(other)
        #expect(exchanges.exchange("a") == nil, "the oldest gave way")
    }

    @Test("Three machines with a guess each are not disturbed, unless they are slow")
    mutating func slow() {
        for (index, id) in ["a", "b", "c"].enumerated() {
            let isHeld = hold(id, from: id, at: Double(index))
            #expect(isHeld)
        }
        let early = hold("d", from: "d", at: 2.9)
        let late = hold("e", from: "e", at: 3)
        #expect(!early && late)
        #expect(exchanges.exchange("a") == nil && exchanges.exchange("b") != nil)
    }

    @Test("What is left of another challenge holds nothing")
    mutating func otherChallenge() {
        for id in ["a", "b", "c"] { _ = hold(id, from: "x") }
        let isHeld = hold("d", from: "x", challenge: 2)
        #expect(isHeld && exchanges.exchange("a") != nil)
    }
}
