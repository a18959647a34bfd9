/// An error of a task that the user asked for: what happened, why, and what to do next.
///
/// Modules below have errors of their own. The command line converts them all to this one before it reports them.
package struct AppError: Error, Sendable {
    package var kind: Kind
    /// A stable dotted word for scripts, such as `pairing.wrong_code`.
    package var code: String
    /// The message for users: what happened, and why. May contain text from a peer; it is sanitised before it is shown.
    package var message: String
    /// A list that belongs to the message, one item per line.
    package var details: [String]
    /// The next command to run, or what else to do.
    package var next: String?

    package init(
        _ kind: Kind,
        _ code: String,
        _ message: String,
        details: [String] = [],
        next: String? = nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.details = details
        self.next = next
    }

    /// The kinds of errors that callers distinguish. The command line has an exit code for each. Of several failures,
    /// the greatest kind is reported.
    package enum Kind: Sendable, Comparable {
        /// A list has no rows: the message says so, and the command has done what it was asked to.
        case emptyList
        case failed
        /// The user asked for something that cannot be done in this way.
        case usage
        case nothingFound
        case timedOut
        /// There is no pairing with the host, or not any more.
        case notPaired
        case wrongCode
        case pairingExpired
        case pairingLocked
        case permissionDenied
        case unreachable
        /// The host answers, but cannot do its work.
        case hostUnavailable
        case versionMismatch
        /// A host that proves nothing was refused.
        case legacyRefused
        case streamInterrupted
        case interrupted
    }
}

extension AppError {
    /// Ends a command whose list has no rows.
    ///
    /// - Parameters:
    ///   - message: A sentence without its full stop.
    ///   - next: The command that would change that.
    package static func empty(_ message: String, next: String? = nil) -> AppError {
        AppError(.emptyList, "", message, next: next)
    }
}
