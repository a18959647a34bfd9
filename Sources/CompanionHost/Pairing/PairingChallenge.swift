import CompanionWire
package import FoundationEssentials
import Identity

/// The challenges of a host as a state machine: at most one runs, it is single use, and three wrong tries end it,
/// whichever protocol they come by. Times come in with the events.
package struct PairingChallenge: Sendable {
    /// A running challenge: the secrets of which a device has to know one, and its time.
    package struct Offer: Sendable, Hashable {
        /// Six decimal digits.
        package var code: String
        /// 128 random bits, as base64url: 22 characters. It is in the QR code.
        package var token: String
        package var startedAt: Date
        package var expiresAt: Date
    }

    /// The answer to a device that tries to pair, in the order of deployed hosts' checks.
    package enum Verdict: Sendable, Hashable {
        case noActivePairing
        case expired
        case wrongCode(triesLeft: Int)
        case wrongToken(triesLeft: Int)
        case missingPublicKey
        /// The challenge is used up.
        case accepted
    }

    /// Wrong codes and tokens that end a challenge.
    package static let maximumTries = 3
    /// How long an ended challenge is still distinguished from a wrong code.
    static let retention: TimeInterval = 900

    /// The running challenge.
    package private(set) var offer: Offer?
    /// Which challenge it is: counts from 1.
    package private(set) var number = 0
    /// Wrong tries that the running challenge still takes.
    package private(set) var triesLeft = 0
    private var retired: [(number: Int, offer: Offer, reason: PairingChallengeEnd, until: Date)] = []

    package init() {}

    /// Starts a challenge in place of the running one.
    ///
    /// - Parameters:
    ///   - code: Six decimal digits.
    ///   - seconds: How long it lives.
    /// - Returns: The challenge, and whether it has replaced another one.
    @discardableResult
    package mutating func start(
        code: String,
        token: String,
        seconds: Int,
        now: Date
    ) -> (offer: Offer, isReplacement: Bool) {
        let isReplacement = offer != nil
        end(.replaced, now: now)
        let end = now.addingTimeInterval(TimeInterval(seconds))
        let new = Offer(code: code, token: token, startedAt: now, expiresAt: end)
        offer = new
        triesLeft = Self.maximumTries
        number += 1
        return (new, isReplacement)
    }

    /// Ends the challenge when its time is over.
    ///
    /// - Returns: Whether it has just expired.
    package mutating func expire(now: Date) -> Bool {
        guard let offer, offer.expiresAt <= now else { return false }
        end(.expired, now: now)
        return true
    }

    /// Judges a try to pair by v1. A right one uses the challenge up. A wrong one is counted, unless its code is that
    /// of a challenge which ended a short while ago (``retention``).
    package mutating func judge(code: String, token: String?, publicKey: String, now: Date) -> Verdict {
        if let offer, offer.expiresAt <= now {
            end(.expired, now: now)
            return .expired
        }
        guard let offer, Self.same(offer.code, code) else {
            // A code that was right a moment ago is no guess, and does not count as one.
            if let reason = reasonOfRetired(code: code, now: now) {
                return reason == .expired ? .expired : .noActivePairing
            }
            return offer == nil ? .noActivePairing : .wrongCode(triesLeft: countWrongTry(now: now))
        }
        if let token, !token.isEmpty, !Self.same(offer.token, token) {
            return .wrongToken(triesLeft: countWrongTry(now: now))
        }
        guard !publicKey.isEmpty else { return .missingPublicKey }
        end(.used, now: now)
        return .accepted
    }

    /// Notes that the running challenge's secret was proven: it is used up.
    package mutating func use(now: Date) {
        end(.used, now: now)
    }

    /// Ends the running challenge like after its last try, because its result could not be stored.
    package mutating func burn(now: Date) {
        end(.burnt, now: now)
    }

    /// Whether a text is the running challenge's token.
    package func hasToken(_ token: String?) -> Bool {
        guard let offer, let token else { return false }
        return Self.same(offer.token, token)
    }

    /// Why an earlier challenge ended; nil for the running one, and for one that is forgotten.
    package func end(ofChallenge number: Int) -> PairingChallengeEnd? {
        retired.last { $0.number == number }?.reason
    }

    /// Counts a wrong try against the running challenge.
    ///
    /// - Returns: How many are left; with none, the challenge has ended.
    package mutating func countWrongTry(now: Date) -> Int {
        triesLeft -= 1
        if triesLeft == 0 { end(.burnt, now: now) }
        return triesLeft
    }

    private mutating func end(_ reason: PairingChallengeEnd, now: Date) {
        retired.removeAll { $0.until <= now }
        guard let ended = offer else { return }
        retired.append((number, ended, reason, now.addingTimeInterval(Self.retention)))
        retired = retired.suffix(16)
        offer = nil
    }

    private func reasonOfRetired(code: String, now: Date) -> PairingChallengeEnd? {
        retired.last { $0.until > now && Self.same($0.offer.code, code) }?.reason
    }

    /// Compares in a time that does not depend on where the texts differ.
    private static func same(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Codes and tokens from the system's cryptographic generator.
enum PairingSecrets {
    /// Six decimal digits, all million of them equally likely.
    static func code() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(Int.random(in: 0..<1_000_000, using: &generator))
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// 128 random bits, base64url: 22 characters.
    static func token() -> String { Base64URL.encode(SecureRandom.bytes(16)) }
}
