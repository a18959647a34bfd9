import CompanionClient
package import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent

/// A chat that prompts are sent to: an existing one, or a new one that is created with the first prompt.
package struct Conversation: Sendable {
    package let session: HostSession
    /// How answers are shown.
    package let view: TurnView
    /// Empty until the chat is created.
    package private(set) var chatID: String
    package private(set) var title: String
    /// The agent's mode when the chat was opened; nil where that is not known.
    package private(set) var mode: AgentMode?
    /// The project in which to create the chat at the first prompt; nil once the chat exists.
    private var unmadeIn: MergedProject?
    /// The id by which waiting prompts name this chat until the host has created it.
    let newChatID = UUID()
    /// The agent's working directory: always a path that the host listed.
    package let projectPath: String?
    /// nil if the host chooses.
    package var model: String?
    /// Pictures that go with the next prompt.
    package var images: [TurnImage] = []
    package var allowedTools: [String]?
    /// Whether the answer to questions about other tools is no.
    package let deniesQuestions: Bool
    /// Whether the next prompt can be sent at once.
    private var isPrepared = false
    /// The answer to the last prompt; empty if there is none.
    package private(set) var lastAnswer = ""
    /// The tools that the agent used in answers, in the order of their first use.
    package private(set) var toolsSeen: [String] = []

    /// Opens a chat.
    ///
    /// - Parameters:
    ///   - word: The title or id of an existing chat; nil for a new one.
    ///   - project: The project of a new chat.
    ///   - model: The model that the user named; nil for the chat's own.
    ///   - usual: The model for a chat that has none of its own; nil for the host's first.
    package static func open(
        _ word: String?,
        project: String? = nil,
        in session: HostSession,
        view: TurnView,
        model: String?,
        usual: String? = nil,
        allowedTools: [String]?,
        deniesQuestions: Bool
    ) async throws -> Conversation {
        guard let word else {
            let model = try await session.model(model ?? usual)
            let project = try await session.projectForNewChat(project)
            return Conversation(
                session: session,
                view: view,
                chatID: "",
                title: "new chat in \(project.project.name)",
                projectPath: project.project.localPath,
                model: model,
                allowedTools: allowedTools,
                deniesQuestions: deniesQuestions,
                unmadeIn: project
            )
        }
        let item = try await session.chat(word)
        let used = item.chat.model
        let model = try await session.model(model ?? (used == nil ? usual : nil), used: used)
        var conversation = Conversation(
            session: session,
            view: view,
            chatID: item.chat.id,
            title: item.chat.title,
            projectPath: item.project.project.localPath,
            model: model,
            allowedTools: allowedTools,
            deniesQuestions: deniesQuestions
        )
        conversation.mode = item.chat.mode
        return conversation
    }

    private init(
        session: HostSession,
        view: TurnView,
        chatID: String,
        title: String,
        projectPath: String,
        model: String?,
        allowedTools: [String]?,
        deniesQuestions: Bool,
        unmadeIn: MergedProject? = nil
    ) {
        self.unmadeIn = unmadeIn
        self.session = session
        self.view = view
        self.chatID = chatID
        self.title = title
        self.projectPath = projectPath.isEmpty ? nil : projectPath
        self.model = model
        self.allowedTools = allowedTools
        self.deniesQuestions = deniesQuestions
    }

    /// The project in which the chat is created at the first prompt; nil once it exists.
    var newProjectID: String? { unmadeIn?.id }

    /// The ids by which waiting prompts may name this chat: the host's, once the chat exists, and ``newChatID``.
    var chatKeys: [ByteText] {
        [chatID, newChatID.uuidString].filter { !$0.isEmpty }.map(ByteText.init)
    }

    /// Whether the host has the chat.
    package var exists: Bool { unmadeIn == nil }

    /// Sends what waits for the chat, and creates the chat if the host needs it before the first prompt.
    ///
    /// - Parameter prompt: The first prompt, which gives the chat its title.
    /// - Throws: ``AppError`` if the host does not take the pictures. This is checked first, so that no empty chat
    ///   is left behind.
    package mutating func prepare(for prompt: String) async throws {
        if !images.isEmpty { try await checkTakesImages() }
        // If this prompt gets no answer, that to the one before is not the last one.
        lastAnswer = ""
        try await makeChat(for: prompt)
        isPrepared = true
    }

    private mutating func makeChat(for prompt: String) async throws {
        if let made = try await session.sendWaiting(before: self), unmadeIn != nil {
            (chatID, title, unmadeIn) = (made.id, made.title ?? self.title, nil)
        }
        guard let project = unmadeIn else { return }
        let title = ChatTitle.of(prompt)
        chatID = try await session.turns.makeChat(projectID: project.id, title: title)
        (self.title, unmadeIn) = (title, nil)
    }

    /// Sends a prompt and shows the answer as it comes.
    ///
    /// - Parameter turn: Lets the user cancel the turn. Default: nil, it cannot be cancelled.
    /// - Throws: ``TurnCancelled``, among others.
    package mutating func send(_ prompt: String, as turn: CancellableTurn? = nil) async throws {
        if !isPrepared { try await prepare(for: prompt) }
        isPrepared = false
        try await run(prompt, as: turn ?? CancellableTurn(session, chatID: chatID))
    }

    /// Sends a prompt and shows the answer as it comes.
    ///
    /// - Returns: The conversation after the answer; nil if the host has cancelled the turn.
    package func sending(_ prompt: String, as turn: CancellableTurn) async throws -> Conversation? {
        var next = self
        do {
            try await next.send(prompt, as: turn)
            return next
        } catch is TurnCancelled {
            return nil
        }
    }

    private mutating func run(_ prompt: String, as turn: CancellableTurn) async throws {
        try await session.beforePrompt { try await session.turns.requireOwnPlace() }
        let request = TurnRequest(
            prompt: prompt,
            model: model,
            projectPath: projectPath,
            allowedTools: allowedTools,
            deniesQuestions: deniesQuestions,
            images: images
        )
        images = []
        do {
            let ending = try await TurnLoop(
                session: session,
                chatID: chatID,
                title: title,
                request: request,
                view: view,
                asksUser: view.asksUser
            )
            .run(turn)
            lastAnswer = ending.answer
            toolsSeen += ending.tools.filter { tool in !toolsSeen.contains { tool.isSame(as: $0) } }
        } catch let error as CompanionClientError where error.code == .streamInterrupted {
            var failure = AppError(describing: error)
            failure.next = "check the chat before you send it again: pairtool messages \(chatID.shortID)"
            throw failure
        }
    }

    /// - Throws: ``AppError`` if the host does not take pictures with a prompt.
    package func checkTakesImages() async throws {
        // As far as it is known before the agent runs.
        let models = try await session.isVerified ? session.offer.models?.models() : nil
        let isBlind = models?.first { $0.id == model }?.capabilities?.supports?.vision == false
        guard isBlind || session.offer.turns?.takesImages != true else {
            guard images.count <= TurnImage.mostPictures,
                images.reduce(0, { $0 + $1.bytes.count }) <= TurnImage.mostTotal
            else {
                throw AppError(
                    .usage,
                    "provider.image",
                    "a prompt takes up to \(TurnImage.mostPictures) pictures, of \(TurnImage.mostTotal / 1_000_000) MB "
                        + "together; nothing was sent",
                    next: "leave some out"
                )
            }
            return
        }
        throw AppError(
            .failed,
            "host.cannot",
            "\(session.host.name) does not accept pictures; nothing was sent",
            next: "leave out the pictures"
        )
    }

    /// Whether another agent has the model than the one that answers here.
    package func needsNewChat(for model: String?) async throws -> Bool {
        guard exists, let model, let present = self.model, let models = session.offer.models else { return false }
        let listed = try await models.models()
        let owners = [model, present].compactMap { id in listed.first { $0.id.isSame(as: id) }?.owner }
        // Hosts without several agents take any of their models at any time.
        return owners.count == 2 && !owners[0].isSame(as: owners[1]) && session.isVerified
    }

    /// Cancels a turn at the host.
    ///
    /// - Returns: The turn's state after the request, as the host reports it.
    func cancel(_ turnID: String) async throws -> String? {
        try await session.cancellation.cancelTurn(chatID: chatID, turnID: turnID)
    }

    /// Cancels the last turn that this machine began in the chat.
    package func cancelTurn() async throws {
        // Before anything else: whether the host can at all.
        _ = try session.cancellation
        guard unmadeIn == nil,
            let turnID = try LastTurns(environment: session.environment).last(chatID: chatID, host: session.host)
        else {
            session.interaction.say("No turn was started in this chat.")
            return
        }
        let state = try await cancel(turnID)
        session.interaction.say(TerminalText.line("Turn \(turnID.shortID): \(state ?? "ended")"))
    }

    /// The newest answer in the chat; nil if there is none.
    package func newestAnswer() async throws -> String? {
        if !lastAnswer.isEmpty { return lastAnswer }
        guard !chatID.isEmpty else { return nil }
        return try await session.chats.lastMessages(chatID: chatID, count: 10).last { $0.role == .assistant }?.text
    }
}

/// The title of a chat, made from its first prompt.
enum ChatTitle {
    /// Folds white space and shortens to 48 characters.
    static func of(_ prompt: String) -> String {
        let folded = prompt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return folded.count <= 48 ? folded : folded.prefix(45) + "..."
    }
}
