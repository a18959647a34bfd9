import CompanionWire
package import FoundationEssentials
import NIOConcurrencyHelpers

/// Turns at a host of protocol v1: the answer is streamed in the response to the prompt.
package struct StreamedTurns: TurnRunning {
    private let client: CompanionAPIClient
    private let deviceID: String
    private let now: @Sendable () -> Date
    /// The end of each chat's history when its last turn began.
    private let positions = NIOLockedValueBox<[ByteText: HistoryPosition]>([:])
    /// The chats, if this machine keeps what it reads of them: they know where they ended before.
    private var chats: (any ChatBrowsing)?

    /// - Parameter deviceID: This device's id at the host.
    package init(client: CompanionAPIClient, deviceID: String, now: @escaping @Sendable () -> Date) {
        self.client = client
        self.deviceID = deviceID
        self.now = now
    }

    package var takesImages: Bool { false }

    /// The same turns. They look for the end of a chat from where it is known to have ended before.
    func readingOn(in chats: any ChatBrowsing) -> StreamedTurns {
        var turns = self
        turns.chats = chats
        return turns
    }

    /// The end of a chat when its last turn began, or else when it was read before.
    private func position(in chatID: String) async -> HistoryPosition {
        if let position = positions.withLockedValue({ $0[ByteText(chatID)] }) { return position }
        return await chats?.knownEnd(chatID: chatID, count: 50) ?? .start
    }

    /// The host creates the chat when it receives the first prompt.
    package func makeChat(projectID: String, title: String) -> String {
        UUID().uuidString.lowercased()
    }

    package func waitForEarlierTurn(
        chatID: String,
        begun: Date,
        waits: Bool,
        say: @Sendable (String) -> Void
    ) async throws -> Bool {
        try await client.waitForAnswer(chatID: chatID, begun: begun, waits: waits, now: now, say: say)
    }

    package func turn(chatID: String, request: TurnRequest) -> TurnEvents {
        turn(chatID: chatID, request: request, with: nil)
    }

    package func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents {
        turn(chatID: chatID, request: request, with: journal)
    }

    private func turn(chatID: String, request: TurnRequest, with journal: PromptJournal?) -> TurnEvents {
        TurnEvents { emit in
            let turn = ChatTurn(
                client: client,
                chatID: chatID,
                request: ContinueChatRequest(request),
                position: await position(in: chatID),
                clock: client.clock,
                willSend: { try journal?.begin() },
                answered: { if journal != nil { emit(.status("The host has the prompt.")) } },
                finished: { position in positions.withLockedValue { $0[ByteText(chatID)] = position } }
            )
            for try await event in turn.run() { emit(event) }
        }
    }

    /// Checks that this device is still the connected one.
    ///
    /// A v1 host has one device at a time, and requests carry no credentials: it would keep serving a superseded device
    /// (protocol v1, Pairing), without the knowledge of the new device's user.
    ///
    /// - Throws: ``CompanionClientError/Code/superseded``. A host without any device says so itself.
    package func requireOwnPlace() async throws {
        guard let other = try await client.status().connectedDevice, other.id != deviceID else { return }
        throw CompanionClientError(
            .superseded,
            message:
                "\(client.target) is now connected to another device, “\(other.name)”, and accepts only one; nothing was sent",
            delivery: .notSent
        )
    }
}

/// Turns at a host of protocol v2: a signed command starts a turn, which runs whether or not anyone follows it.
package struct CommandedTurns: TurnRunning {
    private let client: CompanionAPIClient
    private let now: @Sendable () -> Date

    package init(client: CompanionAPIClient, now: @escaping @Sendable () -> Date) {
        self.client = client
        self.now = now
    }

    /// Whether the agent takes them, the host knows.
    package var takesImages: Bool { true }

    package func makeChat(projectID: String, title: String) async throws -> String {
        try await client.createChat(projectID: projectID, title: title).id
    }

    package func waitForEarlierTurn(
        chatID: String,
        begun: Date,
        waits: Bool,
        say: @Sendable (String) -> Void
    ) async throws -> Bool {
        try await client.waitForAnswer(chatID: chatID, begun: begun, waits: waits, now: now, say: say)
    }

    package func turn(chatID: String, request: TurnRequest) -> TurnEvents {
        TurnEvents { emit in
            let (turnID, images) = try await client.startTurn(
                chatID: chatID,
                request: ContinueChatRequest(request),
                images: request.images,
                content: request.content
            )
            if images < request.images.count { emit(.status("The host took the prompt without its pictures")) }
            try await follow(turnID, in: chatID, hasACP: request.content != nil, emit)
        }
    }

    package func turn(chatID: String, request: TurnRequest, journal: PromptJournal) -> TurnEvents {
        TurnEvents { emit in
            let request = ContinueChatRequest(request)
            guard let turnID = try await client.startTurn(chatID: chatID, request: request, journal: journal) else {
                return emit(.status("The host already has this prompt."))
            }
            try await follow(turnID, in: chatID, emit)
        }
    }

    private func follow(
        _ turnID: String,
        in chatID: String,
        hasACP: Bool = false,
        _ emit: (TurnEvent) -> Void
    ) async throws {
        emit(.begun(turnID: turnID))
        let turn = try FollowedTurn(
            client: client,
            chatID: chatID,
            turnID: turnID,
            hasACP: hasACP,
            clock: client.clock
        )
        for try await output in turn { emit(output) }
    }
}

extension CompanionAPIClient {
    /// How long to wait for an unfinished turn before it counts as lost, if the host reports no limit of its own.
    private static var longestTurn: Duration { .seconds(600) }

    /// Waits until the last prompt of a chat is answered.
    ///
    /// - Parameter waits: Whether to wait; else the host is asked once.
    /// - Returns: false if it is not answered yet.
    fileprivate func waitForAnswer(
        chatID: String,
        begun: Date,
        waits: Bool,
        now: () -> Date,
        say: (String) -> Void
    ) async throws -> Bool {
        let pause = Duration.seconds(1)
        var age = Duration.seconds(now().timeIntervalSince(begun))
        var hasSaid = false
        while true {
            let last = try await lastMessages(chatID: chatID, count: 1).last
            guard let last, last.role == .user else { return true }
            let health = try await health()
            // Both times are from the host's clock. If the message has no time, the estimate is accurate to about a
            // second.
            let asked = last.createdAt ?? begun.addingTimeInterval(clockOffset.map { $0 / .seconds(1) } ?? 0)
            guard !health.began(after: asked) else {
                say("The host was restarted before it answered the last prompt. That answer is lost.")
                return true
            }
            guard age < health.turnLimit ?? Self.longestTurn else { return true }
            guard waits else { return false }
            if !hasSaid { say("The host is still answering the last prompt. Waiting for it to end.") }
            hasSaid = true
            try await clock.sleep(for: pause)
            age += pause
        }
    }
}

extension ContinueChatRequest {
    /// A request to a CopilotForge host, without its pictures.
    fileprivate init(_ request: TurnRequest) {
        self.init(
            prompt: request.prompt,
            projectPath: request.projectPath,
            model: request.model,
            allowedTools: request.allowedTools
        )
    }
}
