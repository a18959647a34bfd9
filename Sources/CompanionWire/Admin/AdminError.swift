/// Why the admin socket could not be used.
package struct AdminError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String, Sendable {
            case unusable, refused
            case anotherHost = "another_host"
            case notRunning = "not_running"
            case notAllowed = "not_allowed"
            case badAnswer = "bad_answer"
        }

        private let value: Value

        private init(_ value: Value) {
            self.value = value
        }

        /// Another host of this user has the socket.
        package static let anotherHost = Code(.anotherHost)
        /// The socket or its directory cannot be made, or is open to others.
        package static let unusable = Code(.unusable)
        /// No host listens.
        package static let notRunning = Code(.notRunning)
        /// The host belongs to another user.
        package static let notAllowed = Code(.notAllowed)
        /// The host answered something else than this protocol.
        package static let badAnswer = Code(.badAnswer)
        /// The host did not do it; ``AdminError/reason`` says why.
        package static let refused = Code(.refused)

        /// The code as a word of JSON, such as `not_running`.
        package var description: String { value.rawValue }
    }

    package var code: Code
    /// A message for people: what went wrong.
    package var message: String
    /// The host's own code for its refusal; nil unless the code is ``Code/refused``.
    package var reason: CompanionErrorCode?
    /// The file of the source code that made the error. Default: that of the caller.
    package var file: String
    /// The line in ``file``.
    package var line: Int

    package init(
        _ code: Code,
        _ message: String,
        reason: CompanionErrorCode? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.reason = reason
        self.file = file
        self.line = line
    }

    package var description: String { message }
}
