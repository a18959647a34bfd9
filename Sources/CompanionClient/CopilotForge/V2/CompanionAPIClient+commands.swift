package import CompanionWire
import FoundationEssentials
import Logging

extension CompanionAPIClient {
    /// `POST /companion/command`.
    ///
    /// The command is signed once. Where its answer is lost, the very same bytes are sent again: a host that had
    /// executed them gives the stored result, so nothing happens twice (companion-v2, Signed commands).
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
                    // Refused before it was executed. The answer's time has set the offset of the host's clock.
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

    /// - Parameter localPath: A directory of the host. Nil: the host chooses.
    package func createProject(name: String, localPath: String?) async throws -> CompanionProject {
        try await result(of: .projectCreate(name: name, localPath: localPath))
    }

    /// - Returns: The id of the session.
    package func createSession(projectID: String) async throws -> String {
        struct Session: Decodable { var sessionId: String }
        return try await result(of: .sessionCreate(projectID: projectID), as: Session.self).sessionId
    }

    /// - Parameter title: Nil: the host takes one from the first prompt.
    package func createChat(projectID: String, title: String?) async throws -> CompanionChat {
        try await result(of: .chatCreate(projectID: projectID, title: title))
    }

    /// Hands a prompt to a chat. The turn runs whether somebody follows it or not.
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

    /// Ends a turn.
    ///
    /// - Returns: What the host says of the turn.
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

    /// The host's time, as far as it is known.
    var hostTime: Date {
        guard let clockOffset else { return Date() }
        return Date().addingTimeInterval(
            Double(clockOffset.components.seconds) + Double(clockOffset.components.attoseconds) / 1e18
        )
    }
}

extension CompanionClientError {
    /// Whether a connection failed and another may do better.
    var isBreak: Bool {
        [.unreachable, .timedOut, .streamInterrupted].contains(code)
    }

    /// What is to be said where a command may have reached the host and its answer cannot be had. A refusal of the host
    /// says what became of the command, and stays.
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

    /// Whether a request may have been executed although no answer came; for a repetition, also whether it is worth
    /// another.
    ///
    /// - Parameter isFirst: A first request that was never sent is an error at once: the host is off. Not so where it
    ///   took the connection and ended it.
    fileprivate func mayHaveLostAnswer(isFirst: Bool) -> Bool {
        [.unreachable, .timedOut].contains(code) && !(isFirst && delivery == .notSent && !isCut)
    }
}
