/// Why the body of a command or session request cannot be used.
package struct SignedCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the answer carries: `command.bad_shape` or `request.invalid`.
    package let code: CompanionErrorCode
    /// What is wrong, for people. Names members, never their values.
    package let message: String

    package init(_ code: CompanionErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
