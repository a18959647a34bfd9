import CompanionWire

/// An error that an AICLI server reports: `{code, message}`.
package struct AICLIServerError: Error, Sendable, Hashable {
    /// The error codes (aicli, "Error codes to map"). Servers may send others.
    package struct Code: RawRepresentable, Sendable, Hashable {
        package var rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// The server has no such session.
        package static let invalidSession = Code(rawValue: "INVALID_SESSION")
        /// The same error in builds of late July.
        package static let sessionNotFound = Code(rawValue: "SESSION_NOT_FOUND")
        /// The server runs as many sessions as it allows.
        package static let sessionLimit = Code(rawValue: "SESSION_LIMIT")
        /// The server refuses the request.
        package static let permissionDenied = Code(rawValue: "PERMISSION_DENIED")
        /// The server does not know this type of request.
        package static let routing = Code(rawValue: "ROUTING_ERROR")
        /// The server failed while it handled the request.
        package static let handler = Code(rawValue: "HANDLER_ERROR")
        /// The session could not be started.
        package static let streamStart = Code(rawValue: "STREAM_START_FAILED")
        /// The prompt could not be handed to the session.
        package static let streamSend = Code(rawValue: "STREAM_SEND_FAILED")
        /// A prompt outside of a session failed.
        package static let command = Code(rawValue: "COMMAND_FAILED")
        /// A question to the assistant failed.
        package static let ask = Code(rawValue: "ASK_FAILED")
        /// The answer to a question of the assistant could not be passed on.
        package static let permission = Code(rawValue: "PERMISSION_FAILED")
        /// The server cannot work in the directory.
        package static let setDirectory = Code(rawValue: "SET_DIRECTORY_FAILED")
    }

    /// The server's code, which may be one that is not listed here.
    package var code: Code
    /// The server's text.
    package var message: String

    package init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    init(_ value: JSONValue) {
        code = Code(rawValue: value.text("code") ?? "UNKNOWN")
        message = value.text("message", "error") ?? value.text ?? ""
    }

    /// Whether the server has no room for another session.
    package var isSessionLimit: Bool {
        if code == .sessionLimit { return true }
        let text = message.lowercased()
        return code == .streamStart && (text.has("maximum number of sessions") || text.has("session limit"))
    }

    /// Whether the server no longer knows the session, and so has not processed the prompt.
    package var isUnknownSession: Bool {
        if [.invalidSession, .sessionNotFound].contains(code) { return true }
        let text = message.lowercased()
        return [.streamSend, .command].contains(code) && text.has("session")
            && (text.has("not found") || text.has("inactive"))
    }

    /// The error to report after a prompt was sent.
    package var clientError: CompanionClientError {
        let (kind, message): (CompanionClientError.Code, String) =
            switch code {
            case _ where isSessionLimit:
                (
                    .busy,
                    "The host has reached its session limit. Use a project that has a session, or end one."
                )
            case .invalidSession, .sessionNotFound: (.notFound, "The host does not know the session any more.")
            case .permissionDenied: (.forbidden, "The host refused this.")
            case .routing: (.unsupportedVersion, "The host does not know this kind of request.")
            case .handler: (.server, "The host could not handle the request.")
            case .streamStart: (.hostError, "The host could not start a session.")
            case .streamSend: (.hostError, "The host could not hand the prompt to the session.")
            case .command, .ask: (.hostError, "The prompt failed on the host.")
            case .permission: (.hostError, "The host could not accept the answer to its question.")
            case .setDirectory: (.badRequest, "The host cannot work in that directory.")
            default: (.hostError, "The host reports an error (\(code.rawValue.prefix(64))).")
            }
        var error = CompanionClientError(kind, message: message, hostText: self.message.isEmpty ? nil : self.message)
        switch kind {
        case .busy: error.advice = "see which projects have one: pairtool aicli sessions"
        case .forbidden: error.advice = "allow it at the host"
        case .unsupportedVersion: error.advice = "update pairtool, or the server"
        default: break
        }
        return error
    }
}
