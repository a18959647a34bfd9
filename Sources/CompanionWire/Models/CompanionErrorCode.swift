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

    /// The six digits are wrong: ``CompanionErrorResponse/triesLeft`` tells how many more tries the challenge takes.
    package static let pairingWrongCode = CompanionErrorCode("pairing.wrong_code")
    /// The token of the QR code is wrong.
    package static let pairingWrongToken = CompanionErrorCode("pairing.wrong_token")
    /// The code has expired.
    package static let pairingExpired = CompanionErrorCode("pairing.expired")
    /// Too many failures in a row: somebody at the host has to unlock pairing.
    package static let pairingLocked = CompanionErrorCode("pairing.locked")
    /// The host shows no code at the moment.
    package static let pairingNotActive = CompanionErrorCode("pairing.not_active")
    /// Too many devices pair at a time, or too many codes were wrong: try again later.
    package static let pairingRateLimited = CompanionErrorCode("pairing.rate_limited")
    /// The CPace share is the neutral element or no point.
    package static let pairingBadShare = CompanionErrorCode("pairing.bad_share")

    /// The request carries no session.
    package static let sessionRequired = CompanionErrorCode("session.required")
    /// The session is over or unknown, or a session request is from another time: the device has to ask again.
    package static let sessionExpired = CompanionErrorCode("session.expired")
    /// The signature of a session request is wrong.
    package static let sessionBadSignature = CompanionErrorCode("session.bad_signature")
    /// The request was signed for another host.
    package static let sessionWrongAudience = CompanionErrorCode("session.wrong_audience")
    /// The nonce of a session request was used before.
    package static let sessionReplayed = CompanionErrorCode("session.replayed")
    /// A device asks for sessions too often.
    package static let sessionRateLimited = CompanionErrorCode("session.rate_limited")

    /// The host has no such device.
    package static let deviceUnknown = CompanionErrorCode("device.unknown")
    /// The device was unpaired.
    package static let deviceRevoked = CompanionErrorCode("device.revoked")
    /// The device's pairing was limited in time, and has ended.
    package static let deviceExpired = CompanionErrorCode("device.expired")

    /// A command lacks a member, or has one of the wrong type.
    package static let commandBadShape = CompanionErrorCode("command.bad_shape")
    /// The command was signed for another host.
    package static let commandWrongAudience = CompanionErrorCode("command.wrong_audience")
    /// The signature of a command is wrong.
    package static let commandBadSignature = CompanionErrorCode("command.bad_signature")
    /// Issued in the future, or meant to live for too long.
    package static let commandBadTime = CompanionErrorCode("command.bad_time")
    /// The command's `expiresAt` has passed by the host's clock.
    package static let commandExpired = CompanionErrorCode("command.expired")
    /// The nonce was used before.
    package static let commandReplayed = CompanionErrorCode("command.replayed")
    /// The id was used before, with other bytes.
    package static let commandConflict = CompanionErrorCode("command.conflict")

    /// The device lacks the permission for this command, or the host does not allow it.
    package static let permissionDenied = CompanionErrorCode("permission.denied")
    /// The host does not speak the version of the protocol that the request names.
    package static let versionUnsupported = CompanionErrorCode("version.unsupported")
    /// The host's agent does not start.
    package static let hostAgentUnavailable = CompanionErrorCode("host.agent_unavailable")
    /// The host's agent asks its owner to sign in.
    package static let hostAgentSignIn = CompanionErrorCode("host.agent_sign_in")
    /// The host could not store what was asked for, and has not done it: its disk may be full.
    package static let hostStorageFailed = CompanionErrorCode("host.storage_failed")
    /// The host stores no more for this device, for some hours or at all.
    package static let quotaExceeded = CompanionErrorCode("quota.exceeded")
    /// The request cannot be read, or a member of it has a value that is not allowed.
    package static let requestInvalid = CompanionErrorCode("request.invalid")
    /// The host has no such path, chat or project.
    package static let requestNotFound = CompanionErrorCode("request.not_found")
    /// The host does not let this connection do it.
    package static let requestForbidden = CompanionErrorCode("request.forbidden")
    /// The body of the request is larger than the host reads.
    package static let requestTooLarge = CompanionErrorCode("request.too_large")
    /// The chat, or the whole host, is at work on another turn.
    package static let chatBusy = CompanionErrorCode("chat.busy")
    /// There is no such question of an agent.
    package static let approvalUnknown = CompanionErrorCode("approval.unknown")
    /// The question was answered already, or its time is over.
    package static let approvalDecided = CompanionErrorCode("approval.decided")
    /// The host has no such rule.
    package static let ruleUnknown = CompanionErrorCode("rule.unknown")
    /// It cannot be said what a chat's agent has changed: the text says why.
    package static let changesUnavailable = CompanionErrorCode("changes.unavailable")
    /// A working tree has work that would be lost with it.
    package static let sessionUnsaved = CompanionErrorCode("session.unsaved")
    /// The host has no such turn.
    package static let turnUnknown = CompanionErrorCode("turn.unknown")
    /// A fault of the host itself.
    package static let `internal` = CompanionErrorCode("internal")
}

extension CompanionErrorCode {
    /// Whether the host's agent answers nobody until its owner does something.
    package var isOfAgent: Bool { self == .hostAgentUnavailable || self == .hostAgentSignIn }
}
