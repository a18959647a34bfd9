import CompanionClient
import CompanionWire
import Glibc
import NIOConcurrencyHelpers

/// The interactive chat: reads prompts and shows answers until the user has enough.
struct ChatLoop {
    private let session: HostSession
    private var conversation: Conversation
    private let history: Int
    private let prompts: any PromptReader
    /// What runs now: Ctrl-C ends it, and not the chat.
    private let current = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

    init(session: HostSession, conversation: Conversation, history: Int) {
        self.session = session
        self.conversation = conversation
        self.history = history
        prompts = session.context.promptReader()
    }

    private static let help = """
        /history [N]   the last N messages (20)
        /model [ID]    show or change the model
        /cancel        end the turn that goes on at the host
        /help          this list
        /quit          end (Ctrl-D does too)
        Ctrl-C         stop waiting for an answer; the host finishes it
        """

    /// Runs until the input ends or the user quits.
    mutating func run() async throws {
        if !conversation.isNew, history > 0 { try await Self.showHistory(history, conversation, prompts) }
        let model = conversation.model.map { ", model \($0)" } ?? ""
        session.output.say("\(conversation.title)\(model). /help lists the commands.")
        // Ctrl-C belongs to what runs, and at the prompt only clears the line; other signals end the chat.
        let current = current
        let handler: Interrupts.Handler = { number in
            guard number == SIGINT else { return false }
            current.withLockedValue(\.self)?()
            return true
        }
        try await Interrupts.shared.withHandler(handler) {
            while let line = try await readPrompt() {
                let prompt = line.trimmingBlanks()
                if prompt.isEmpty { continue }
                if prompt.hasPrefix("/") {
                    guard try await obey(prompt) else { return }
                } else {
                    prompts.remember(prompt)
                    let before = conversation
                    let sent = try await run(
                        "Stopped waiting. The host goes on; /history shows the answer once it is there."
                    ) {
                        var next = before
                        try await next.send(prompt)
                        return next
                    }
                    if let sent { conversation = sent }
                }
            }
        }
    }

    /// Runs something that Ctrl-C may end. An error is shown and does not end the chat.
    ///
    /// - Returns: nil where it was stopped or failed.
    private func run<R: Sendable>(_ stopped: String, _ body: @escaping @Sendable () async throws -> R) async throws
        -> R?
    {
        let task = Task { try await body() }
        current.withLockedValue { $0 = { task.cancel() } }
        defer { current.withLockedValue { $0 = nil } }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        try Task.checkCancellation()
        switch result {
        case .success(let value): return value
        case .failure(let error):
            if error is CancellationError || task.isCancelled {
                session.output.say(stopped)
            } else {
                session.output.report(CommandError(describing: error))
            }
            return nil
        }
    }

    /// The next line; nil at the end of the input. An interrupt at the prompt only clears the line.
    private func readPrompt() async throws -> String? {
        while true {
            Interrupts.shared.drainWake()
            do {
                return try await prompts.next()
            } catch is CancellationError {
                try Task.checkCancellation()
                session.context.stderr.write("\n(Ctrl-D or /quit ends)\n")
            }
        }
    }

    /// - Returns: Whether to go on.
    private mutating func obey(_ command: String) async throws -> Bool {
        let words = command.split(separator: " ", maxSplits: 1).map(String.init)
        let argument = words.count > 1 ? words[1].trimmingBlanks() : nil
        switch words[0] {
        case "/quit", "/exit": return false
        case "/help": session.output.say(Self.help)
        case "/history":
            let count = argument.flatMap(Int.init).map { max(1, $0) } ?? 20
            let (conversation, prompts) = (conversation, prompts)
            _ = try await run("Stopped.") { try await Self.showHistory(count, conversation, prompts) }
        case "/model":
            if let argument { conversation.model = argument }
            session.output.say("model \(conversation.model ?? "of the host's choice")")
        case "/cancel":
            let conversation = conversation
            _ = try await run("Stopped.") { try await conversation.cancelTurn() }
        default: session.output.say("There is no \(words[0]). /help lists the commands.")
        }
        return true
    }

    private static func showHistory(_ count: Int, _ conversation: Conversation, _ prompts: any PromptReader)
        async throws
    {
        let session = conversation.session
        let writer = MessageWriter(output: session.output)
        for message in try await session.chats.lastMessages(chatID: conversation.chatID, count: count) {
            writer.write(message)
            if message.role == .user { prompts.remember(message.text) }
        }
    }
}
