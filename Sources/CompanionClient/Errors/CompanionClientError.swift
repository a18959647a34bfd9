package import CompanionWire
package import FoundationEssentials

/// A failed request to a host, or one that it refused.
package struct CompanionClientError: Error, Sendable {
    /// The kind of a failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case unreachable, redirected, forbidden, server, revoked, superseded, busy
            case refusedAddress = "refused_address"
            case timedOut = "timed_out"
            case notACompanion = "not_a_companion"
            case notPaired = "not_paired"
            case hostSignedOut = "host_signed_out"
            case badRequest = "bad_request"
            case notFound = "not_found"
            case tooLarge = "too_large"
            case badAnswer = "bad_answer"
            case streamInterrupted = "stream_interrupted"
            case hostError = "host_error"
            case unsupportedVersion = "unsupported_version"
            case pinMismatch = "pin_mismatch"
            case sessionExpired = "session_expired"
            case alreadyDecided = "already_decided"
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// No connection, or the connection broke before the whole answer was there.
        package static let unreachable = Code(.unreachable)
        /// The address is not a local one (or is none); nothing was sent.
        package static let refusedAddress = Code(.refusedAddress)
        /// The host answered with a redirect, which is never followed.
        package static let redirected = Code(.redirected)
        /// The host took the request and did not answer in time.
        package static let timedOut = Code(.timedOut)
        /// Something else listens on that port: it answers HTML, another service's JSON, or no HTTP at all.
        package static let notACompanion = Code(.notACompanion)
        /// Status 403: no companion device is connected to the host.
        package static let notPaired = Code(.notPaired)
        /// The assistant's account is not signed in on the host (status 401): retry later, the pairing stands.
        package static let hostSignedOut = Code(.hostSignedOut)
        /// Status 403 for another reason than a missing pairing; `hostText` has it.
        package static let forbidden = Code(.forbidden)
        /// The host refused the request (status 400 and the like); `hostText` has its reason.
        package static let badRequest = Code(.badRequest)
        /// The host has no such path, chat or project.
        package static let notFound = Code(.notFound)
        /// The answer, a frame of it, or the request (status 413) is over its limit.
        package static let tooLarge = Code(.tooLarge)
        /// The answer is not JSON or has the wrong shape.
        package static let badAnswer = Code(.badAnswer)
        /// A streamed answer ended without `[DONE]`.
        package static let streamInterrupted = Code(.streamInterrupted)
        /// The turn failed on the host: `hostText` is the text of its error frame.
        package static let hostError = Code(.hostError)
        /// Status 426.
        package static let unsupportedVersion = Code(.unsupportedVersion)
        /// Status 5xx.
        package static let server = Code(.server)

        /// The host shows another TLS key than when it was paired. Nothing was sent.
        package static let pinMismatch = Code(.pinMismatch)
        /// The host does not take the session's token, and a new one did not help.
        package static let sessionExpired = Code(.sessionExpired)
        /// The host has ended this device's access: it was revoked, or has expired.
        package static let revoked = Code(.revoked)
        /// A host that has one device at a time is now connected to another one.
        package static let superseded = Code(.superseded)
        /// The chat has a turn that runs.
        package static let busy = Code(.busy)
        /// Someone else decided first, or the question has expired: `hostText` says which.
        package static let alreadyDecided = Code(.alreadyDecided)

        package var description: String { value.rawValue }
    }

    /// How far the request got. Decides whether something may have happened on the host.
    package enum Delivery: Sendable, Hashable {
        /// No connection was made: the host knows nothing of the request.
        case notSent
        /// The connection failed before an answer began: the host may have acted on the request, or not.
        case unknown
        /// The host answered at least with a status.
        case answered
    }

    /// The place in the program at which an error was created.
    package struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
        let fileID: String
        package let line: Int

        package var description: String { "\(fileID):\(line)" }
    }

    /// The kind of error, by which callers decide what to do.
    package var code: Code
    /// The message for people. Holds no text of the host: that is in ``hostText``.
    package var message: String
    /// Whether the message begins with the name of a host, which is shown as it is.
    package var beginsWithName = false
    /// The host's own message: the `error` of its JSON. Sanitise it before it reaches a terminal.
    package var hostText: String?
    /// The stable name of the error where the host speaks v2.
    package var hostCode: CompanionErrorCode?
    /// How many tries a pairing has left, where the host says so.
    package var triesLeft: Int?
    /// The versions of the protocol that the host speaks, where it refused ours.
    package var hostVersions: ClosedRange<Int>?
    /// The status of the host's answer, if there was one.
    package var httpStatus: Int?
    /// The host's time when it answered, from the `Date` header.
    package var serverDate: Date?
    /// Whether the request has reached the host, and so may have had an effect.
    package var delivery: Delivery
    /// Whether an open connection ended before the whole answer was there. A new one may work. The listener may also be
    /// a tunnel whose other end is down.
    package var isCut = false
    /// Whether the host's name could not be resolved.
    package internal(set) var isUnknownName = false
    /// The next step, if the code alone does not say it: an action or a command.
    package var advice: String?
    /// Whether the request was looked for at the host and not found: it may be on its way still.
    package var mayStillArrive = false
    /// The error of the library or system call that failed, if there is one.
    package var underlying: (any Error)?
    let location: SourceLocation

    package init(
        _ code: Code,
        message: String,
        hostText: String? = nil,
        httpStatus: Int? = nil,
        serverDate: Date? = nil,
        delivery: Delivery = .answered,
        underlying: (any Error)? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.hostText = hostText
        self.httpStatus = httpStatus
        self.serverDate = serverDate
        self.delivery = delivery
        self.underlying = underlying
        self.location = SourceLocation(fileID: fileID, line: line)
    }
}

extension CompanionClientError {
    /// Whether the host has not got the request, and will not get it later.
    package var isCertainlyNotSent: Bool { delivery == .notSent && !mayStillArrive }
}

extension CompanionClientError: CustomStringConvertible {
    /// The message, and what the host said.
    package var description: String {
        guard let hostText, !hostText.isEmpty else { return message }
        return "\(message) The host says: \(hostText)"
    }
}

extension CompanionClientError: CustomDebugStringConvertible {
    package var debugDescription: String {
        var parts = ["\(code): \(description)"]
        if let httpStatus { parts.append("status \(httpStatus)") }
        if let underlying { parts.append("caused by \(underlying)") }
        parts.append("at \(location)")
        return parts.joined(separator: ", ")
    }
}
