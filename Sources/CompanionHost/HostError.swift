import CompanionWire

/// Why the host does not do what a device asks of it.
///
/// How it is answered over HTTP is decided in one place, by its code and its variant: ``HostResponseError``.
struct HostError: Error, Sendable {
    /// Distinguishes errors with the same code.
    enum Variant: Sendable, Hashable {
        case usual
        /// Devices of v1 get the text alone, as deployed hosts send it.
        case textOnlyInV1
        /// The thing to be created exists already.
        case alreadyExists
        /// About a signed request for a session, not about the session that a request came with.
        case signedRequest
    }

    var code: CompanionErrorCode
    /// A message for people: why the host does not do it.
    var text: String
    var variant: Variant
    /// Whether the same request may succeed later.
    var retryable: Bool
    /// Seconds to wait before the next try.
    var retryAfter: Int?
    /// Wrong codes or tokens that are still accepted.
    var triesLeft: Int?

    init(
        _ code: CompanionErrorCode,
        _ text: String,
        variant: Variant = .usual,
        retryable: Bool = false,
        retryAfter: Int? = nil,
        triesLeft: Int? = nil
    ) {
        self.code = code
        self.text = text
        self.variant = variant
        self.retryable = retryable
        self.retryAfter = retryAfter
        self.triesLeft = triesLeft
    }

    /// The error as devices may see it; nil for one that is not meant for them.
    init?(describing error: any Error) {
        switch error {
        case let error as HostError: self = error
        case let error as CompanionHostError where error.code == .notStored: self = .notStored()
        case let error as SignedCommandError: self.init(error.code, error.message)
        default: return nil
        }
    }
}

extension HostError {
    static let permissionDenied = HostError(.permissionDenied, HostErrorText.permissionDenied)
    static let agentUnavailable = HostError(
        .hostAgentUnavailable,
        HostErrorText.agentUnavailable,
        retryable: true
    )
    static let turnUnknown = HostError(.turnUnknown, HostErrorText.turnUnknown)

    /// The database stores nothing.
    static func notStored(_ text: String = HostErrorText.notStored) -> HostError {
        HostError(.hostStorageFailed, text, retryable: true)
    }
}

/// Texts of errors that deployed hosts do not have.
package enum HostErrorText {
    package static let malformedBody = "The body is not JSON with the fields of this request"
    package static let projectNotListed = "projectPath is not inside a project of this host"
    package static let projectPathRelative = "projectPath has to be an absolute path"
    package static let noProject = "This host lists no project: projectPath is required"
    package static let chatBusy = "Too many prompts wait for this chat: try again later"
    package static let hostBusy = "Too many prompts wait at this host: try again later"
    package static let pairingLocked = "Pairing is locked after too many wrong codes. At the host: pairtool host unlock"
    package static let sessionRequired = "A session is required"
    package static let sessionExpired = "The session is over"
    package static let deviceUnknown = "This device is not paired with the host: pair first"
    package static let deviceRevoked = "This device was revoked at the host: pair again"
    package static let deviceExpired = "This device's access was limited in time, and has ended: pair again"
    package static let permissionDenied = "This device may not do that; the host's owner can allow it"
    package static let provenKey =
        "The key belongs to a device that was paired with proof: pair by protocol 2, or revoke that device at the host"
    package static let approvalUnknown = "The host knows no such question"
    package static let alwaysByOwner =
        "Only the host's owner may answer for later questions too; devices may with: pairtool host --always-by devices"
    package static let turnUnknown = "Unknown turn"
    package static let internalError = "The host could not do this"
    package static let notStored =
        "The host could not store this, so it was not done: its disk may be full. Try again later"
    package static let revocationNotStored =
        "The device is shut out, but that could not be stored: the host's disk may be full. The host keeps trying; "
        + "if it is restarted before, the device is let in again"
    package static let permissionsNotStored =
        "The permissions are removed until the host restarts, but the change could not be stored: its disk may be full"
    package static let agentUnavailable = "The agent of this host is unavailable"
}
