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
    /// The device lacks a permission. Says how the host's owner gives it.
    static func lacking(_ permission: CompanionPermission, device: String) -> HostError {
        HostError(
            .permissionDenied,
            "This device lacks the permission \(permission.rawValue). To give it, on the host: "
                + "pairtool host permissions \(device.shortID) --add \(permission.rawValue)"
        )
    }

    static let agentUnavailable = HostError(
        .hostAgentUnavailable,
        "The agent of this host is unavailable",
        retryable: true
    )
    static let turnUnknown = HostError(.turnUnknown, "Unknown turn")

    static let approvalUnknown = HostError(.approvalUnknown, "The host has no such question")
    static let `internal` = HostError(.internal, "The host could not do this")

    /// The database stores nothing.
    static func notStored(
        _ text: String = "The host could not store this, so it was not done: its disk may be full. Try again later"
    ) -> HostError {
        HostError(.hostStorageFailed, text, retryable: true)
    }
}
