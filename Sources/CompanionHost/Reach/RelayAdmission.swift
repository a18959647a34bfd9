import CompanionWire
import FoundationEssentials

/// Decides which calls over relays a host takes. A value: calls and times come in.
///
/// Ids that no paired device has are let in only while a pairing is open, and few of them: anybody can make such an id.
struct RelayAdmission: Sendable {
    /// Why a call is not taken.
    enum Refusal: String, Sendable, Hashable {
        /// No paired device has the id, and no pairing is open.
        case unknown
        /// The caller has as many connections as it may have.
        case tooMany
        /// The caller came too often.
        case tooOften
    }

    /// Connections of one device that are open at a time.
    static let mostOpen = 8
    /// New connections of one device in a minute. A command makes two: one on which the host proves its key, and its own.
    static let mostPerMinute = 60
    /// Connections of all unknown callers that are open at a time.
    static let mostUnknownOpen = 4

    private static let strangers = "strangers"

    private var limiter = RateLimiter(burst: mostPerMinute, interval: 60 / Double(mostPerMinute))
    private var open: [RelayID: Int] = [:]
    private var unknownOpen = 0

    /// A device calls.
    ///
    /// - Parameters:
    ///   - isKnown: Whether a paired device has the id.
    ///   - isPairing: Whether somebody may pair now.
    /// - Returns: nil where the call is taken; then ``end(_:wasKnown:)`` follows.
    mutating func admit(_ id: RelayID, isKnown: Bool, isPairing: Bool, now: Date) -> Refusal? {
        guard isKnown || isPairing else { return .unknown }
        guard isKnown ? open[id, default: 0] < Self.mostOpen : unknownOpen < Self.mostUnknownOpen else {
            return .tooMany
        }
        guard limiter.take(isKnown ? "\(id)" : Self.strangers, now: now) else { return .tooOften }
        if isKnown { open[id, default: 0] += 1 } else { unknownOpen += 1 }
        return nil
    }

    /// A connection that was let in has ended.
    ///
    /// - Parameter wasKnown: As ``admit(_:isKnown:isPairing:now:)`` was told.
    mutating func end(_ id: RelayID, wasKnown: Bool) {
        guard wasKnown else {
            unknownOpen -= 1
            return
        }
        open[id, default: 1] -= 1
        if open[id] == 0 { open[id] = nil }
    }
}
