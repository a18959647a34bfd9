/// Why a relay cannot be used, or why it has lost a connection.
package struct RelayError: Error, Sendable {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, full, refused, closed
            case timedOut = "timed_out"
            case wrongID = "wrong_id"
            case badMessage = "bad_message"
            case notFound = "not_found"
            case alreadyConnected = "already_connected"
            case sessionLost = "session_lost"
            case badIdentity = "bad_identity"
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// No connection could be made.
        package static let unreachable = Code(.unreachable)
        /// The relay did not answer in time, or fell silent.
        package static let timedOut = Code(.timedOut)
        /// The relay's certificate has another id than the address. Nothing was sent.
        package static let wrongID = Code(.wrongID)
        /// The other side does not keep to the protocol of relays.
        package static let badMessage = Code(.badMessage)
        /// The host that was called is not connected to the relay.
        package static let notFound = Code(.notFound)
        /// The relay knows a connection with this identity already.
        package static let alreadyConnected = Code(.alreadyConnected)
        /// The relay is over its limits.
        package static let full = Code(.full)
        /// The relay answered with an error that has no code of its own here.
        package static let refused = Code(.refused)
        /// The relay closed the connection.
        package static let closed = Code(.closed)
        /// The relay does not know an invitation's key any more: a new call may work at once.
        package static let sessionLost = Code(.sessionLost)
        /// A stored identity cannot be read, or none can be made.
        package static let badIdentity = Code(.badIdentity)

        package var description: String { value.rawValue }
    }

    /// The kind of error, by which callers decide what to do.
    package var code: Code
    /// The message for people: a whole sentence with the relay's address. What it quotes of the relay's words is cut
    /// and can be shown.
    package var message: String
    /// The error of the library or system call that failed, if there is one.
    package var underlying: (any Error)?

    package init(_ code: Code, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }
}

extension RelayError: CustomStringConvertible {
    package var description: String { message }
}

extension RelayError: CustomDebugStringConvertible {
    package var debugDescription: String {
        guard let underlying else { return "\(code): \(message)" }
        return "\(code): \(message) caused by \(underlying)"
    }
}
