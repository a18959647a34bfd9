package import CompanionWire
import FoundationEssentials
import Logging

/// Signed commands of protocol v2: the host executes each once.
extension CompanionAPIClient {
    /// `POST /companion/command`.
    ///
    /// The command is signed once. If the answer is lost, the same bytes are sent again: a host that has already
    /// executed them returns the stored result, so nothing is done twice (companion-v2, Signed commands).
    ///
    /// - Parameter journal: Keeps the command on the disk, so that the same bytes are sent by later processes too.
    package func execute(
        _ payload: CommandPayload,
        journal: PromptJournal? = nil
    ) async throws -> CommandResponse {
        guard let session else {
            throw CompanionClientError(
                .unsupportedVersion,
                message: "\(target) was paired by protocol 1, which has no such command.",
                delivery: .notSent
            )
        }
        let id = journal?.commandID ?? UUID()
        func sign() throws -> [UInt8] {
            let body = try session.signedCommand(payload, id: id, now: hostTime)
            try journal?.keep(SentCommand(body))
            return body
        }
        var body: [UInt8]
        let mayHaveArrived = journal?.sent != nil
        if let journal, let sent = journal.sent {
            try journal.requireWaiting()
            body = Array(sent.body.utf8)
        } else {
            body = try sign()
        }
        var backoff = Backoff(configuration.retries)
        var hasSetClock = false
        var mayHaveRun = false
        while true {
            do {
                return try await json(.post("/companion/command", json: body), as: CommandResponse.self)
            } catch let error as CompanionClientError {
                if error.isAboutTime, !hasSetClock, !backoff.hasBegun {
                    // The host refused the command before it executed it. The answer's time has set the offset of the
                    // host's clock. A command from the host's future was refused at every attempt; one that is over
                    // may have been executed at an earlier one.
                    hasSetClock = true
                    if let journal, mayHaveArrived, error.hostCode == .commandExpired {
                        try await requireUnexecuted(payload, in: journal)
                    }
                    body = try sign()
                    continue
                }
                mayHaveRun = mayHaveRun || error.isBreak && error.delivery != .notSent
                guard error.mayHaveLostAnswer(isFirst: !backoff.hasBegun), let wait = backoff.next() else {
                    throw mayHaveRun ? error.asLostAnswer(to: payload) : error
                }
                logger.debug("sending a command again", metadata: ["command": "\(id)", "type": "\(payload.type)"])
                try await line.pause(for: wait, by: clock)
            }
        }
    }

    /// Makes sure that a command whose time is over was not executed before: a host remembers commands only until then.
    ///
    /// - Throws: ``CompanionClientError`` with the code `busy` if the command may still be executed, `streamInterrupted`
    ///   if that cannot be found out, and ``AlreadyExecuted``.
    private func requireUnexecuted(_ payload: CommandPayload, in journal: PromptJournal) async throws {
        guard let sent = journal.sent, case .chatSend(let chatID, let prompt, _, _, _, _) = payload else { return }
        // The host may have taken it in the last moment, and may not have stored the prompt yet.
        guard hostTime > sent.expiresAt.addingTimeInterval(30) else {
            throw CompanionClientError(
                .busy,
                message:
                    "It is not known yet whether the host got this prompt in an earlier attempt. Try again in a minute.",
                delivery: .notSent
            )
        }
        let messages = try await lastMessages(chatID: chatID, count: 200)
        let since = sent.issuedAt.addingTimeInterval(-60)
        let isThere = messages.contains { message in
            message.role == .user && message.createdAt ?? since >= since
                && message.text.trimmingWhitespace().isSame(as: prompt.trimmingWhitespace())
        }
        if isThere { throw AlreadyExecuted() }
        guard messages.count < 200 || messages.first?.createdAt ?? since < since else {
            // It would be tried for ever.
            try journal.doubt()
            throw CompanionClientError(
                .streamInterrupted,
                message: "The chat has changed since, so pairtool cannot tell whether the host got the prompt.",
                delivery: .unknown
            )
        }
    }

    /// - Parameter title: nil lets the host derive one from the first prompt.
    package func createChat(projectID: String, title: String?) async throws -> CompanionChat {
        try await result(of: .chatCreate(projectID: projectID, title: title))
    }

    /// Sends a prompt to a chat. The turn runs whether or not anyone follows it.
    ///
    /// - Returns: The id of the turn.
    package func startTurn(chatID: String, request: ContinueChatRequest) async throws -> String {
        try await startTurn(chatID: chatID, request: request, images: []).id
    }

    /// Sends a prompt with pictures to a chat.
    ///
    /// - Returns: The id of the turn, and how many pictures the host took.
    func startTurn(
        chatID: String,
        request: ContinueChatRequest,
        images: [TurnImage],
        content: String? = nil
    ) async throws -> (id: String, images: Int) {
        let turn: StartedTurn = try await result(
            of: .send(request, images: images, content: content, chatID: chatID)
        )
        return (turn.turnId, turn.images ?? 0)
    }

    /// Sends a prompt that waited in the outbox, once over all attempts.
    ///
    /// - Returns: The id of the turn; nil if it is known only that the host has the prompt from an earlier attempt.
    func startTurn(
        chatID: String,
        request: ContinueChatRequest,
        journal: PromptJournal
    ) async throws -> String? {
        do {
            let payload = CommandPayload.send(request, chatID: chatID)
            return try await result(of: payload, as: StartedTurn.self, journal: journal).turnId
        } catch is AlreadyExecuted {
            return nil
        } catch let error as CompanionClientError where journal.sent != nil && error.hostCode == .commandConflict {
            // The host knows the id from other bytes: those of an earlier attempt.
            return nil
        }
    }

    /// Cancels a turn.
    ///
    /// - Returns: The turn's state as the host reports it.
    package func cancelTurn(chatID: String, turnID: String) async throws -> CanonicalJSON {
        try await execute(.chatCancel(chatID: chatID, turnID: turnID)).result
    }

    func result<Value: Decodable>(
        of payload: CommandPayload,
        as: Value.Type = Value.self,
        journal: PromptJournal? = nil
    ) async throws -> Value {
        let response = try await execute(payload, journal: journal)
        do {
            return try response.result.decode(Value.self)
        } catch {
            throw CompanionClientError(
                .badAnswer,
                message: "\(target) returned an unexpected result.",
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

private struct StartedTurn: Decodable {
    var turnId: String
    /// nil from hosts that know no pictures.
    var images: Int?
}

extension CommandPayload {
    fileprivate static func send(
        _ request: ContinueChatRequest,
        images: [TurnImage] = [],
        content: String? = nil,
        chatID: String
    ) -> CommandPayload {
        .chatSend(
            chatID: chatID,
            prompt: request.prompt,
            model: request.model,
            allowedTools: request.allowedTools,
            images: images,
            content: content
        )
    }
}

/// The host has executed a command in an earlier attempt.
private struct AlreadyExecuted: Error {}

extension SentCommand {
    fileprivate init(_ body: [UInt8]) throws {
        let command = try SignedCommand.parse(body)
        self.init(
            body: String(decoding: body, as: UTF8.self),
            issuedAt: command.issuedAt,
            expiresAt: command.expiresAt
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
            error.message += " The host may have done it anyway."
            return error
        }
        error.code = .streamInterrupted
        error.message += " The prompt may have run: it was sent once, but no answer arrived."
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
package struct SignedCommands: ProjectCreating, TurnCancelling {
    let client: CompanionAPIClient

    package init(client: CompanionAPIClient) {
        self.client = client
    }

    package func createProject(name: String, localPath: String?) async throws -> CompanionProject {
        try await client.result(of: .projectCreate(name: name, localPath: localPath))
    }

    package func createChat(projectID: String, title: String?) async throws -> CompanionChat {
        try await client.createChat(projectID: projectID, title: title)
    }

    package func cancelTurn(chatID: String, turnID: String) async throws -> String? {
        try await client.cancelTurn(chatID: chatID, turnID: turnID)["state"]?.string
    }
}
