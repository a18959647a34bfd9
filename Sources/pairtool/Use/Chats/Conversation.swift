import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent

/// A chat that prompts are sent to: an existing one, or a new one that the first prompt makes.
struct Conversation: Sendable {
    let session: HostSession
    private(set) var chatID: String
    let title: String
    let isNew: Bool
    /// Where a verified host shall make the chat; nil once it is there, and where the first prompt makes it.
    private var unmadeIn: MergedProject?
    /// The agent's working directory: only ever a path that the host listed.
    let projectPath: String?
    /// Nil if the host chooses.
    var model: String?
    /// Pictures that go with the next prompt.
    var images: [TurnImage] = []
    var allowedTools: [String]?
    /// Where the chat's history went to before the last turn.
    private var position = HistoryPosition.start
    /// The answer to the last prompt.
    private(set) var lastAnswer = ""

    /// An existing chat, by title or id.
    static func existing(
        _ word: String,
        in session: HostSession,
        model: String?,
        allowedTools: [String]?
    ) async throws -> Conversation {
        let item = try await session.chat(word)
        return Conversation(
            session: session,
            chatID: item.chat.id,
            title: item.chat.title,
            isNew: false,
            projectPath: item.project.project.localPath,
            model: try await session.model(model),
            allowedTools: allowedTools
        )
    }

    /// A new chat in a project.
    static func new(
        project: String?,
        in session: HostSession,
        model: String?,
        allowedTools: [String]?
    ) async throws -> Conversation {
        let project = try await session.projectForNewChat(project)
        return Conversation(
            session: session,
            chatID: UUID().uuidString.lowercased(),
            title: "new chat in \(project.project.name)",
            isNew: true,
            projectPath: project.project.localPath,
            model: try await session.model(model),
            allowedTools: allowedTools,
            unmadeIn: session.isVerified || session.offer.turns != nil ? project : nil
        )
    }

    private init(
        session: HostSession,
        chatID: String,
        title: String,
        isNew: Bool,
        projectPath: String,
        model: String?,
        allowedTools: [String]?,
        unmadeIn: MergedProject? = nil
    ) {
        self.unmadeIn = unmadeIn
        self.session = session
        self.chatID = chatID
        self.title = title
        self.isNew = isNew
        self.projectPath = projectPath.isEmpty ? nil : projectPath
        self.model = model
        self.allowedTools = allowedTools
    }

    /// Makes the chat where it has to be there before a prompt can be sent.
    ///
    /// - Parameter prompt: The first prompt, which gives the chat its title.
    /// - Throws: ``CommandError`` where the host does not take the pictures: a chat is not made for nothing.
    mutating func prepare(for prompt: String) async throws {
        if !images.isEmpty { try checkTakesImages() }
        guard let project = unmadeIn else { return }
        let title = ChatTitle.of(prompt)
        if let turns = session.offer.turns {
            chatID = try await turns.makeChat(projectID: project.id, title: title)
        } else {
            chatID = try await session.copilotForge.createChat(projectID: project.id, title: title).id
        }
        unmadeIn = nil
    }

    /// Sends a prompt and shows the answer as it comes.
    mutating func send(_ prompt: String) async throws {
        try await session.requireOwnPlace()
        try await prepare(for: prompt)
        let request = TurnRequest(
            prompt: prompt,
            model: model,
            projectPath: projectPath,
            allowedTools: allowedTools,
            images: images
        )
        images = []
        let (session, chatID, earlier) = (session, chatID, position)
        (position, lastAnswer) = try await TurnLock.with(
            chatID: chatID,
            host: session.host,
            output: session.output,
            waitForEarlier: { begun in
                // Hosts with turns of their own do not tell who has not followed one how it ended.
                if session.offer.turns == nil { try await waitForAnswer(begun: begun) }
            }
        ) {
            var writer = TurnWriter(output: session.output, chatID: chatID)
            defer { writer.endLine() }
            var reached = earlier
            do {
                if let turns = session.offer.turns {
                    for try await output in turns.turn(chatID: chatID, request) { writer.write(output) }
                } else if session.isVerified {
                    try await Self.follow(ContinueChatRequest(request), in: chatID, session, &writer)
                } else {
                    let turn = ChatTurn(
                        client: try session.copilotForge,
                        chatID: chatID,
                        request: ContinueChatRequest(request),
                        position: earlier,
                        clock: session.context.clock
                    )
                    for try await output in turn.run() {
                        writer.write(output)
                        if case .finished(let summary) = output { reached = summary.position }
                    }
                }
            } catch let error as CompanionClientError where error.code == .streamInterrupted {
                var failure = CommandError(describing: error)
                failure.next = "check the chat before you send it again: pairtool messages \(chatID.prefix(8))"
                throw failure
            }
            // A cancelled wait ends the loop without an error.
            try Task.checkCancellation()
            return (reached, writer.answer)
        }
    }

    /// - Throws: ``CommandError`` where the host takes no pictures with a prompt.
    func checkTakesImages() throws {
        guard session.offer.turns?.takesImages != true else { return }
        throw CommandError(
            .failed,
            "host.cannot",
            "\(session.host.name) does not accept pictures; nothing was sent",
            next: "leave out the pictures"
        )
    }

    /// Starts a turn with a signed command and shows it. The turn continues whether it is followed or not.
    private static func follow(
        _ request: ContinueChatRequest,
        in chatID: String,
        _ session: HostSession,
        _ writer: inout TurnWriter
    ) async throws {
        let companion = try session.copilotForge
        let turnID = try await companion.startTurn(chatID: chatID, request)
        try LastTurns(context: session.context).remember(turnID, chatID: chatID, host: session.host)
        writer.begin(turnID: turnID)
        let turn = try FollowedTurn(client: companion, chatID: chatID, turnID: turnID, clock: session.context.clock)
        for try await output in turn { writer.write(output) }
    }

    /// Ends the last turn that this machine began in the chat.
    func cancelTurn() async throws {
        try session.requireCommands("cancel turns")
        guard unmadeIn == nil,
            let turnID = try LastTurns(context: session.context).last(chatID: chatID, host: session.host)
        else {
            session.output.say("No turn was started in this chat.")
            return
        }
        let turn = try await session.copilotForge.cancelTurn(chatID: chatID, turnID: turnID)
        session.output.say(TerminalText.line("Turn \(turnID.prefix(8)): \(turn["state"]?.string ?? "ended")"))
    }

    /// How long an unfinished turn is waited for before it counts as lost, where the host does not say how long it lets
    /// one take.
    private static let longestTurn = Duration.seconds(600)

    /// Waits until the last prompt of the chat has its answer: two turns at a time would mix theirs.
    private func waitForAnswer(begun: Date) async throws {
        let companion = try session.copilotForge
        let pause = Duration.seconds(1)
        var age = Duration.seconds(session.context.now().timeIntervalSince(begun))
        var hasSaid = false
        while true {
            let last = try await session.chats.lastMessages(chatID: chatID, count: 1).last
            guard let last, last.role == .user else { return }
            let health = try await companion.health()
            // Both times are the host's, but for a host that says no times: then they are right to about a second.
            let asked = last.createdAt ?? begun.addingTimeInterval(companion.clockOffset.map { $0 / .seconds(1) } ?? 0)
            guard !health.began(after: asked) else {
                session.output.say("The host was restarted before it answered the last prompt. That answer is lost.")
                return
            }
            guard age < health.turnLimit ?? Self.longestTurn else { return }
            if !hasSaid { session.output.say("The host is still answering the last prompt. Waiting for it to end.") }
            hasSaid = true
            try await session.context.clock.sleep(for: pause)
            age += pause
        }
    }
}

extension ContinueChatRequest {
    /// A request to a CopilotForge host, which takes no pictures.
    fileprivate init(_ request: TurnRequest) {
        self.init(
            prompt: request.prompt,
            projectPath: request.projectPath,
            model: request.model,
            allowedTools: request.allowedTools
        )
    }
}

/// The title of a chat that begins with a prompt.
enum ChatTitle {
    /// White space folded, and cut to 48 characters.
    static func of(_ prompt: String) -> String {
        let folded = prompt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return folded.count <= 48 ? folded : folded.prefix(45) + "..."
    }
}
