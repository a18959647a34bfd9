import CompanionClient
import CompanionWire
import FoundationEssentials

/// A chat that prompts are sent to: an existing one, or a new one that the first prompt makes.
struct Conversation: Sendable {
    let session: HostSession
    let chatID: String
    let title: String
    let isNew: Bool
    /// The agent's working directory: only ever a path that the host listed.
    let projectPath: String?
    var model: String
    var allowedTools: [String]?
    /// Where the chat's history went to before the last turn.
    private var position = HistoryPosition.start

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
            allowedTools: allowedTools
        )
    }

    private init(
        session: HostSession,
        chatID: String,
        title: String,
        isNew: Bool,
        projectPath: String,
        model: String,
        allowedTools: [String]?
    ) {
        self.session = session
        self.chatID = chatID
        self.title = title
        self.isNew = isNew
        self.projectPath = projectPath.isEmpty ? nil : projectPath
        self.model = model
        self.allowedTools = allowedTools
    }

    /// Sends a prompt and shows the answer as it comes.
    mutating func send(_ prompt: String) async throws {
        let request = ContinueChatRequest(
            prompt: prompt,
            projectPath: projectPath,
            model: model,
            allowedTools: allowedTools
        )
        let (session, chatID, earlier) = (session, chatID, position)
        position = try await TurnLock.with(
            chatID: chatID,
            host: session.host,
            output: session.output,
            waitForEarlier: { try await waitForAnswer(begun: $0) }
        ) {
            var writer = TurnWriter(output: session.output, chatID: chatID)
            defer { writer.endLine() }
            let turn = ChatTurn(client: session.client, chatID: chatID, request: request, position: earlier)
            var reached = earlier
            do {
                for try await output in turn.run() {
                    writer.write(output)
                    if case .finished(let summary) = output { reached = summary.position }
                }
            } catch let error as CompanionClientError where error.code == .streamInterrupted {
                var failure = CommandError(describing: error)
                failure.next = "see whether the answer is there: pairtool messages \(chatID.prefix(8))"
                throw failure
            }
            // A cancelled wait ends the loop without an error.
            try Task.checkCancellation()
            return reached
        }
    }

    /// How long an unfinished turn is waited for before it counts as lost.
    private static let longestTurn: Double = 600

    /// Waits until the last prompt of the chat has its answer: two turns at a time would mix theirs.
    private func waitForAnswer(begun: Date) async throws {
        var hasSaid = false
        while session.context.now().timeIntervalSince(begun) < Self.longestTurn {
            let last = try await session.client.lastMessages(chatID: chatID, count: 1).last
            guard last?.role == .user else { return }
            if !hasSaid { session.output.say("The host is still answering the last prompt; waiting for it to end.") }
            hasSaid = true
            try await ContinuousClock().sleep(for: .seconds(1))
        }
    }
}
