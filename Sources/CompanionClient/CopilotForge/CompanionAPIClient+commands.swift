package import CompanionWire
import FoundationEssentials
import Logging

/// Signed commands of protocol v2: the host executes each once.
extension CompanionAPIClient {
    /// `POST /companion/command`.
    ///
    /// The command is signed once. If the answer is lost, the same bytes are sent again: a host that has already
    /// executed them returns the stored result, so nothing is done twice (companion-v2, Signed commands).
    package func execute(_ payload: CommandPayload) async throws -> CommandResponse {
        guard let session else {
            throw CompanionClientError(
                .unsupportedVersion,
                "\(endpoint) was paired by protocol 1, which has no such command.",
                delivery: .notSent
            )
        }
        let id = UUID()
        var body = try session.signedCommand(payload, id: id, now: hostTime)
        var backoff = Backoff(configuration.retries)
        var hasSetClock = false
        var mayHaveRun = false
        while true {
            do {
                return try await json(.post("/companion/command", json: body), as: CommandResponse.self)
            } catch let error as CompanionClientError {
                if error.isAboutTime, !hasSetClock, !backoff.hasBegun {
                    // The host refused the command before it executed it. The answer's time has set the offset of the
                    // host's clock.
                    hasSetClock = true
                    body = try session.signedCommand(payload, id: id, now: hostTime)
                    continue
                }
                mayHaveRun = mayHaveRun || error.isBreak && error.delivery != .notSent
                guard error.mayHaveLostAnswer(isFirst: !backoff.hasBegun), let wait = backoff.next() else {
                    throw mayHaveRun ? error.asLostAnswer(to: payload) : error
                }
                logger.debug("sending a command again", metadata: ["command": "\(id)", "type": "\(payload.type)"])
                try await clock.sleep(for: wait)
            }
        }
    }

    /// - Parameter localPath: A directory on the host; nil lets the host choose.
    package func createProject(name: String, localPath: String?) async throws -> CompanionProject {
        try await result(of: .projectCreate(name: name, localPath: localPath))
    }

    /// - Returns: The id of the session.
    package func createSession(projectID: String) async throws -> String {
        struct Session: Decodable { var sessionId: String }
        return try await result(of: .sessionCreate(projectID: projectID), as: Session.self).sessionId
    }

    /// - Parameter title: nil lets the host derive one from the first prompt.
    package func createChat(projectID: String, title: String?) async throws -> CompanionChat {
        try await result(of: .chatCreate(projectID: projectID, title: title))
    }

    /// Sends a prompt to a chat. The turn runs whether or not anyone follows it.
    ///
    /// - Returns: The id of the turn.
    package func startTurn(chatID: String, _ request: ContinueChatRequest) async throws -> String {
        struct Turn: Decodable { var turnId: String }
        let payload = CommandPayload.chatSend(
            chatID: chatID,
            prompt: request.prompt,
            model: request.model,
            allowedTools: request.allowedTools
        )
        return try await result(of: payload, as: Turn.self).turnId
    }

    /// Cancels a turn.
    ///
    /// - Returns: The turn's state as the host reports it.
    package func cancelTurn(chatID: String, turnID: String) async throws -> JSONValue {
        try await execute(.chatCancel(chatID: chatID, turnID: turnID)).result
    }

    private func result<Value: Decodable>(
        of payload: CommandPayload,
        as: Value.Type = Value.self
    ) async throws -> Value {
        let response = try await execute(payload)
        do {
            return try response.result.decode(Value.self)
        } catch {
            throw CompanionClientError(
                .badAnswer,
                "\(endpoint) gave a result that was not expected.",
                underlying: error
            )
        }
    }

    /// The host's time, estimated from the last clock offset; this machine's time if no offset is known.
    var hostTime: Date {
        guard let clockOffset else { return Date() }
        return Date().addingTimeInterval(
            Double(clockOffset.components.seconds) + Double(clockOffset.components.attoseconds) / 1e18
        )
    }
}

extension CompanionClientError {
    /// Whether the connection failed in a way that a new connection may fix.
    var isBreak: Bool {
        [.unreachable, .timedOut, .streamInterrupted].contains(code)
    }

    /// The error to report if a command may have reached the host but its answer is lost. An error that the host itself
    /// returned says what happened to the command, so it is kept.
    fileprivate func asLostAnswer(to payload: CommandPayload) -> CompanionClientError {
        guard hostCode == nil else { return self }
        var error = self
        error.delivery = .unknown
        guard case .chatSend = payload, error.code != .pinMismatch else {
            error.message += " The host may have done it all the same."
            return error
        }
        error.code = .streamInterrupted
        error.message += " The prompt may have run: it was sent once, and its answer could not be had."
        return error
    }

    var isAboutTime: Bool { hostCode == .commandBadTime || hostCode == .commandExpired }

    /// Whether a request may have been executed although no answer came. For a repetition, also whether another one
    /// makes sense.
    ///
    /// - Parameter isFirst: Whether this was the first attempt. If that was never sent, the host is off and the error
    ///   is final, unless the host accepted the connection and then closed it.
    fileprivate func mayHaveLostAnswer(isFirst: Bool) -> Bool {
        [.unreachable, .timedOut].contains(code) && !(isFirst && delivery == .notSent && !isCut)
    }
}

/// The signed commands, which only hosts paired by protocol v2 accept.
package struct SignedCommands: Sendable {
    package let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }
}
