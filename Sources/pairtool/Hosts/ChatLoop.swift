import CompanionClient
import CompanionWire
import NIOConcurrencyHelpers

/// The interactive chat: reads prompts and shows answers until the user has enough.
struct ChatLoop {
    private let session: HostSession
    private var conversation: Conversation
    private let history: Int
    private let prompts: any PromptReader

    init(session: HostSession, conversation: Conversation, history: Int) {
        self.session = session
        self.conversation = conversation
        self.history = history
        prompts = session.context.promptReader()
    }

    private static let help = """
        /history [N]   the last N messages (20)
        /model [ID]    show or change the model
        /help          this list
        /quit          end (Ctrl-D does too)
        Ctrl-C         stop waiting for an answer; the host finishes it
        """

    /// Runs until the input ends or the user quits.
    mutating func run() async throws {
        if !conversation.isNew, history > 0 { try await showHistory(history) }
        session.output.say("\(conversation.title), model \(conversation.model). /help lists the commands.")
        let turn = NIOLockedValueBox<Task<Conversation, any Error>?>(nil)
        // Inside the loop, signals belong to the turn that runs; at the prompt they only clear the line.
        try await Interrupts.shared.withHandler({ turn.withLockedValue { $0?.cancel() } }) {
            while let line = try await readPrompt() {
                let prompt = line.trimmingBlanks()
                if prompt.isEmpty { continue }
                prompts.remember(prompt)
                if prompt.hasPrefix("/") {
                    guard try await obey(prompt) else { return }
                    continue
                }
                let current = conversation
                let running = Task { () throws -> Conversation in
                    var next = current
                    try await next.send(prompt)
                    return next
                }
                turn.withLockedValue { $0 = running }
                defer { turn.withLockedValue { $0 = nil } }
                await finish(running)
            }
        }
    }

    private mutating func finish(_ running: Task<Conversation, any Error>) async {
        do {
            conversation = try await running.value
        } catch {
            if error is CancellationError || running.isCancelled {
                session.output.say("Stopped waiting. The host goes on; /history shows the answer once it is there.")
            } else {
                session.output.report(CommandError(describing: error))
            }
        }
    }

    /// The next line; nil at the end of the input. An interrupt at the prompt only clears the line.
    private func readPrompt() async throws -> String? {
        while true {
            Interrupts.shared.drainWake()
            do {
                return try await prompts.next()
            } catch is CancellationError {
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
        case "/history": try await showHistory(argument.flatMap(Int.init).map { max(1, $0) } ?? 20)
        case "/model":
            if let argument { conversation.model = argument }
            session.output.say("model \(conversation.model)")
        default: session.output.say("There is no \(words[0]). /help lists the commands.")
        }
        return true
    }

    private func showHistory(_ count: Int) async throws {
        let writer = MessageWriter(output: session.output)
        let messages = try await session.client.lastMessages(chatID: conversation.chatID, count: count)
        for message in messages {
            writer.write(message)
            if message.role == .user { prompts.remember(message.text) }
        }
    }
}
