import CompanionClient
import CompanionWire
import FoundationEssentials
import Glibc
import NIOConcurrencyHelpers

/// The interactive chat: reads prompts and shows answers until the user quits.
struct ChatLoop {
    private let session: HostSession
    private var conversation: Conversation
    private let history: Int
    private let prompts: any PromptReader
    /// Auto mode; nil if it is off.
    private var auto: AutoResponse?
    /// Stops the running operation. Ctrl-C calls it instead of ending the chat.
    private let current = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

    init(session: HostSession, conversation: Conversation, history: Int, auto: AutoResponse? = nil) {
        self.session = session
        self.conversation = conversation
        self.history = history
        self.auto = auto
        prompts = session.context.promptReader()
    }

    private static let help = """
        /history [N]   show the last N messages (20)
        /model [ID]    show or change the model
        /image FILE    send a picture with the next prompt
        /cancel        cancel the turn that runs on the host
        /auto [MODE]   show or set auto mode; off ends it
        /help          show this list
        /quit          end the chat (also Ctrl-D)
        Ctrl-C         stop waiting for an answer; the host finishes it
        """

    private static let commands = ["/history", "/model", "/image", "/cancel", "/auto", "/help", "/quit"]

    /// Runs until the input ends or the user quits.
    mutating func run() async throws {
        if !conversation.isNew, history > 0 { try await Self.showHistory(history, conversation, prompts) }
        let model = conversation.model.map { ", model \($0)" } ?? ""
        session.output.say("\(conversation.title)\(model). /help lists the commands.")
        // Ctrl-C stops the running operation; at the prompt it only clears the line. Other signals end the chat.
        let current = current
        let handler: Interrupts.Handler = { number in
            guard number == SIGINT else { return false }
            current.withLockedValue(\.self)?()
            return true
        }
        try await Interrupts.shared.withHandler(handler) {
            while let line = try await readPrompt() {
                let prompt = line.trimmingWhitespace()
                if prompt.isEmpty { continue }
                if prompt.begins(with: "/") {
                    guard try await obey(prompt) else { return }
                } else {
                    prompts.remember(prompt)
                    // Create the chat first, so that it exists even if the answer fails.
                    let unmade = conversation
                    let made = try await run("Stopped; nothing was sent.") {
                        var next = unmade
                        try await next.prepare(for: prompt)
                        return next
                    }
                    guard let made else { continue }
                    conversation = made
                    let before = made
                    let begin = session.context.now()
                    let sent = try await run(stoppedWaiting) {
                        var next = before
                        try await next.send(prompt)
                        return next
                    }
                    if let sent {
                        conversation = sent
                        try await goOn(since: begin)
                    } else if !conversation.images.isEmpty {
                        // A later prompt may be about something else.
                        conversation.images = []
                        session.output.say("The pictures were dropped. To add them again: /image FILE")
                    }
                }
            }
        }
    }

    /// The message after the user stopped waiting for an answer.
    private var stoppedWaiting: String {
        session.offer.turns?.endsWithReader == true
            ? "Stopped. /history shows the answer so far."
            : "Stopped waiting. The host finishes the answer; /history shows it."
    }

    /// Runs an operation that Ctrl-C can stop. An error is shown and does not end the chat.
    ///
    /// - Parameter interrupt: Called for each Ctrl-C. Returns whether to stop the operation.
    /// - Returns: nil if the operation was stopped or failed.
    private func run<R: Sendable>(
        _ stopped: String,
        interrupt: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
        let task = Task { try await body() }
        current.withLockedValue { $0 = { if interrupt() { task.cancel() } } }
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
                let prompt = try await prompts.next()
                // Ctrl-D prints no line break; without this one, the next output would follow the prompt on its line.
                if prompt == nil, session.context.canAsk { session.context.stderr.write("\n") }
                return prompt
            } catch is CancellationError {
                try Task.checkCancellation()
                session.context.stderr.write("\n(Ctrl-D or /quit ends the chat)\n")
            }
        }
    }

    /// - Returns: Whether the chat continues.
    private mutating func obey(_ command: String) async throws -> Bool {
        let words = command.parts(" ", maxSplits: 1).map(String.init)
        let argument = words.count > 1 ? words[1].trimmingWhitespace() : nil
        switch words[0] {
        case "/quit", "/exit": return false
        case "/help": session.output.say(Self.help)
        case "/history":
            let count = argument.flatMap(Int.init).map { max(1, $0) } ?? 20
            let (conversation, prompts) = (conversation, prompts)
            _ = try await run("Stopped.") { try await Self.showHistory(count, conversation, prompts) }
        case "/model":
            if let argument {
                let session = session
                guard let model = try await run("Stopped.", { try await session.model(argument) }) else { return true }
                conversation.model = model
            }
            session.output.say("model \(conversation.model ?? "chosen by the host")")
        case "/auto": choose(argument)
        case "/image": try await attach(argument)
        case "/cancel":
            let conversation = conversation
            _ = try await run("Stopped.") { try await conversation.cancelTurn() }
        default:
            let near = NearestWord.of(words[0], in: Self.commands).map { " Did you mean \($0)?" } ?? ""
            session.output.say("There is no command \(words[0]).\(near) /help lists the commands.")
        }
        return true
    }

    /// Adds a picture to the next prompt.
    private mutating func attach(_ path: String?) async throws {
        let before = conversation
        let picture = try await run("Stopped.") {
            try before.checkTakesImages()
            guard let path else {
                throw CommandError(.usage, "image.missing", "no file was given", next: "/image FILE")
            }
            return try await PromptPicture.read(path)
        }
        guard let picture else { return }
        conversation.images.append(picture)
        let count = conversation.images.count
        session.output.say("\(count) \(count == 1 ? "picture goes" : "pictures go") with the next prompt.")
    }

    private static func showHistory(_ count: Int, _ conversation: Conversation, _ prompts: any PromptReader)
        async throws
    {
        let session = conversation.session
        guard !conversation.chatID.isEmpty else { return session.output.say("This chat has no messages yet.") }
        let writer = MessageWriter(output: session.output)
        for message in try await session.chats.lastMessages(chatID: conversation.chatID, count: count) {
            writer.write(message)
            if message.role == .user { prompts.remember(message.text) }
        }
    }
}

// MARK: Auto mode

extension ChatLoop {
    /// Sends the follow-up prompts of auto mode until the mode is done. The first Ctrl-C lets the running answer finish
    /// and sends no further prompt.
    ///
    /// - Parameter begin: When the user's prompt was sent. The mode's time limit counts from then.
    private mutating func goOn(since begin: Date) async throws {
        guard var auto else { return }
        auto.begin()
        let output = session.output
        let wantsStop = NIOLockedValueBox(false)
        while true {
            if wantsStop.withLockedValue(\.self) { auto.stop() }
            let elapsed = Duration.seconds(max(0, session.context.now().timeIntervalSince(begin)))
            switch auto.answered(conversation.lastAnswer, elapsed: elapsed) {
            case .stop(let reason):
                output.say("Auto mode ended: \(reason).")
                return
            case .send(let prompt):
                output.say("› \(prompt) (auto mode, \(auto.sent) of at most \(auto.mostMessages); Ctrl-C stops it)")
                let before = conversation
                let sent = try await run(stoppedWaiting) {
                    let isFirst = wantsStop.withLockedValue { wants in
                        defer { wants = true }
                        return !wants
                    }
                    if isFirst { output.say("Auto mode stops after this answer. Ctrl-C again stops waiting for it.") }
                    return !isFirst
                } _: {
                    var next = before
                    try await next.send(prompt)
                    return next
                }
                guard let sent else {
                    let reason = wantsStop.withLockedValue(\.self) ? AutoResponse.Reason.stopped : .failed
                    output.say("Auto mode ended: \(reason).")
                    return
                }
                conversation = sent
            }
        }
    }

    /// Shows or sets auto mode.
    private mutating func choose(_ word: String?) {
        if word == "off" {
            auto = nil
        } else if let word {
            guard let mode = AutoResponse.Mode(rawValue: word) else {
                let modes = AutoResponse.Mode.allCases.map(\.rawValue).joined(separator: ", ")
                session.output.say("Unknown mode. The modes are: \(modes), off")
                return
            }
            auto = AutoResponse(mode: mode, limits: auto?.limits ?? .init())
        }
        session.output.say("auto mode: \(auto?.mode.rawValue ?? "off")")
    }
}
