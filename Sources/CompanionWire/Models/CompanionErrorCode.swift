/// The stable name of an error in ``CompanionErrorResponse`` (companion-v2, Errors). Unknown names are kept as they
/// are.
package struct CompanionErrorCode: RawRepresentable, Codable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    package static let pairingWrongCode = CompanionErrorCode("pairing.wrong_code")
    package static let pairingWrongToken = CompanionErrorCode("pairing.wrong_token")
    package static let pairingExpired = CompanionErrorCode("pairing.expired")
    /// Too many failures in a row: somebody at the host has to unlock pairing.
    package static let pairingLocked = CompanionErrorCode("pairing.locked")
    /// The host shows no code at the moment.
    package static let pairingNotActive = CompanionErrorCode("pairing.not_active")
    package static let pairingRateLimited = CompanionErrorCode("pairing.rate_limited")
    /// The CPace share is the neutral element or no point.
    package static let pairingBadShare = CompanionErrorCode("pairing.bad_share")

    package static let sessionRequired = CompanionErrorCode("session.required")
    package static let sessionExpired = CompanionErrorCode("session.expired")
    package static let sessionBadSignature = CompanionErrorCode("session.bad_signature")
    /// The request was signed for another host.
    package static let sessionWrongAudience = CompanionErrorCode("session.wrong_audience")
    package static let sessionReplayed = CompanionErrorCode("session.replayed")
    /// A device asks for sessions too often.
    package static let sessionRateLimited = CompanionErrorCode("session.rate_limited")

    package static let deviceUnknown = CompanionErrorCode("device.unknown")
    package static let deviceRevoked = CompanionErrorCode("device.revoked")
    package static let deviceExpired = CompanionErrorCode("device.expired")

    package static let commandBadShape = CompanionErrorCode("command.bad_shape")
    package static let commandWrongAudience = CompanionErrorCode("command.wrong_audience")
    package static let commandBadSignature = CompanionErrorCode("command.bad_signature")
    /// Issued in the future, or meant to live for too long.
    package static let commandBadTime = CompanionErrorCode("command.bad_time")
    package static let commandExpired = CompanionErrorCode("command.expired")
    /// The nonce was used before.
    package static let commandReplayed = CompanionErrorCode("command.replayed")
    /// The id was used before, with other bytes.
    package static let commandConflict = CompanionErrorCode("command.conflict")

    package static let permissionDenied = CompanionErrorCode("permission.denied")
    package static let versionUnsupported = CompanionErrorCode("version.unsupported")
    package static let hostAgentUnavailable = CompanionErrorCode("host.agent_unavailable")
    /// The host could not store what was asked for, and has not done it: its disk may be full.
    package static let hostStorageFailed = CompanionErrorCode("host.storage_failed")
    /// The host stores no more for this device, for some hours or at all.
    package static let quotaExceeded = CompanionErrorCode("quota.exceeded")
    package static let requestInvalid = CompanionErrorCode("request.invalid")
    package static let requestNotFound = CompanionErrorCode("request.not_found")
    package static let requestForbidden = CompanionErrorCode("request.forbidden")
    package static let requestTooLarge = CompanionErrorCode("request.too_large")
    package static let chatBusy = CompanionErrorCode("chat.busy")
    /// There is no such question of an agent.
    package static let approvalUnknown = CompanionErrorCode("approval.unknown")
    /// The question was answered already, or its time is over.
    package static let approvalDecided = CompanionErrorCode("approval.decided")
    /// The host has no such rule.
    package static let ruleUnknown = CompanionErrorCode("rule.unknown")
    package static let turnUnknown = CompanionErrorCode("turn.unknown")
    package static let `internal` = CompanionErrorCode("internal")
}
