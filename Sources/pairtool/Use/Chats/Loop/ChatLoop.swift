import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import NIOConcurrencyHelpers
import PairingAgent
import Terminal

/// The interactive chat: reads prompts and shows answers until the user quits.
struct ChatLoop {
    let session: HostSession
    var conversation: Conversation
    let prompts: any PromptReader
    /// Completes words when the user presses Tab.
    let completer: ChatCompleter
    private let history: Int
    /// Auto mode; nil if it is off.
    var auto: AutoResponse?
    /// The chats that `/chats` listed last, for their numbers.
    var listed: [ChatInProject] = []
    /// The tools that the command line allows, in every chat.
    let commandLineTools: [String]?
    /// Tools that are allowed for the next prompt only.
    var allowedOnce: [String] = []
    /// The prompt that was sent last.
    private var last: SentPrompt?
    /// Stops the running operation. Ctrl-C calls it instead of ending the chat.
    private let current = NIOLockedValueBox<(@Sendable () -> Void)?>(nil)

    private struct SentPrompt {
        var text: String
        /// Whether the host may be answering it, or may have answered it unseen.
        var isUncertain: Bool
    }

    /// The output for answers and messages.
    let output: Output

    /// How an operation ended that Ctrl-C can stop.
    enum Outcome<R> {
        case value(R)
        case stopped
        case failed(any Error)

        var value: R? { if case .value(let value) = self { value } else { nil } }
    }

    init(
        session: HostSession,
        conversation: Conversation,
        output: Output,
        prompts: any PromptReader,
        completer: ChatCompleter,
        history: Int,
        auto: AutoResponse? = nil
    ) {
        self.session = session
        self.conversation = conversation
        self.output = output
        commandLineTools = conversation.allowedTools
        self.history = history
        self.auto = auto
        self.prompts = prompts
        self.completer = completer
    }

    /// Runs until the input ends or the user quits.
    mutating func run() async throws {
        completer.use(session)
        if conversation.exists, history > 0 {
            try await Self.showHistory(history, of: conversation, on: output, prompts: prompts)
        }
        // A host that answers for this program alone would keep the user waiting.
        if session.host.family.behavior.facts.queuing == .untilReceived {
            do {
                try await session.sendWaiting(before: conversation)
            } catch let error as AppError where error.code == "outbox.stuck" {
                // The next prompt tries again.
                output.report(error)
            } catch is CancellationError where !Task.isCancelled {
                // The user had a prompt cancelled, and not the chat.
            }
        }
        sayTitle()
        // Ctrl-C stops the running operation; at the prompt it only clears the line. Other signals end the chat.
        let current = current
        let handler: Interrupts.Handler = { number in
            guard number == SIGINT else { return false }
            current.withLockedValue(\.self)?()
            return true
        }
        try await Interrupts.shared.withHandler(handler) {
            var text: String?
            while let line = try await readPrompt(text) {
                text = nil
                let command = line.trimmingWhitespace()
                if command.isEmpty { continue }
                await prompts.remember(line)
                if let prompt = ChatWords.prompt(of: line) {
                    text = try await answer(prompt, typed: line)
                } else {
                    switch try await obey(command) {
                    case .next(let changed): text = changed
                    case .quit: return
                    }
                }
            }
        }
    }

    func sayTitle() {
        completer.tools(knownTools)
        let model = conversation.model.map { ", model \($0)" } ?? ""
        let mode = conversation.mode.map { ", \($0.text)" } ?? ""
        output.say("\(conversation.title)\(model)\(mode). /help lists the commands.")
    }

    /// The next prompt; nil at the end of the input. An interrupt at the prompt does not end the chat.
    private func readPrompt(_ text: String?) async throws -> String? {
        var text = text
        while true {
            do {
                return try await Interrupts.shared.waiting { try await prompts.next(text) }
            } catch is CancellationError {
                try Task.checkCancellation()
                // What was typed since stays.
                text = nil
                output.context.stderr.write("(Ctrl-D or /quit ends the chat)\n")
            }
        }
    }

    /// Runs an operation that Ctrl-C can stop. An error is shown and does not end the chat.
    ///
    /// - Parameters:
    ///   - stopped: The message after it was stopped.
    ///   - interrupt: Called for each Ctrl-C. Returns whether to stop the operation.
    func run<R: Sendable>(
        _ stopped: @autoclosure () -> String,
        interrupt: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> Outcome<R> {
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
        case .success(let value): return .value(value)
        case .failure(let error):
            if error is CancellationError || task.isCancelled {
                output.say(stopped())
                return .stopped
            }
            await session.environment.endPairing(with: session.host, ifRevokedBy: error)
            output.report(AppError(describing: error))
            return .failed(error)
        }
    }
}

// MARK: Prompts

extension ChatLoop {
    /// Sends what the user typed, with the files that it names.
    ///
    /// - Returns: The typed text if it was not sent, so that the user can change it; nil if it was sent.
    private mutating func answer(_ text: String, typed line: String) async throws -> String? {
        var prompt = text
        // Files are sent only if somebody has seen what is sent.
        if output.context.canAsk {
            let attachments = PromptAttachments(environment: session.environment)
            let attached = try await run("Stopped; nothing was sent.") { [context = output.context] in
                try await attachments.attach(to: text) { context.show($0, content: $1) }
            }
            guard case .value(let whole?) = attached else { return line }
            prompt = whole
        }
        return try await send(prompt) ? nil : line
    }

    /// Sends the last prompt once more.
    mutating func retry() async throws {
        guard let last else { return output.say("No prompt was sent yet.") }
        if last.isUncertain {
            let question = "The last prompt may have reached the host, and may run twice. Send it again?"
            guard try await confirms(question) else { return }
        }
        _ = try await send(last.text)
    }

    /// Asks a yes-or-no question. Without a terminal, the answer is no.
    func confirms(_ question: String) async throws -> Bool {
        let context = output.context
        guard context.canAsk else {
            output.say("\(question) There is no terminal to ask on; nothing was done.")
            return false
        }
        return try await run("Stopped.") { try await session.interaction.confirm(question) }.value ?? false
    }

    /// Sends a prompt and shows the answer.
    ///
    /// - Returns: False if it is certain that the host did not get it.
    private mutating func send(_ prompt: String) async throws -> Bool {
        // Create the chat first, so that it exists even if the answer fails.
        let allowed = conversation.allowedTools
        var unmade = conversation
        unmade.allowedTools = allowed.map { $0 + allowedOnce }
        let made = try await run("Stopped; this prompt was not sent.") { [unmade] in
            var next = unmade
            try await next.prepare(for: prompt)
            return next
        }
        if case .failed(let error) = made, try await queues(prompt, after: error) { return true }
        guard let made = made.value else { return false }
        conversation = made
        let earlier = (last, allowedOnce)
        last = SentPrompt(text: prompt, isUncertain: true)
        let begin = output.context.now()
        allowedOnce = []
        let turn = CancellableTurn(session, chatID: conversation.chatID)
        let outcome = try await waitForAnswer(prompt, as: turn)
        conversation.allowedTools = allowed
        switch outcome {
        case .value(let sent?):
            conversation = sent
            conversation.allowedTools = allowed
            completer.tools(knownTools)
            last?.isUncertain = false
            try await goOn(since: begin)
            return true
        case .value(nil): last?.isUncertain = false
        case .failed(let error as CompanionClientError) where error.delivery == .notSent:
            allowedOnce = earlier.1
            if error.isCertainlyNotSent { last = earlier.0 }
            let isKept = try await queues(prompt, after: error)
            if isKept || error.isCertainlyNotSent { return isKept }
            // The host may get it yet, with what was allowed once.
            allowedOnce = []
        case .stopped where !turn.hasRun:
            (last, allowedOnce) = earlier
            return false
        case .stopped, .failed: break
        }
        if !conversation.images.isEmpty {
            // A later prompt may be about something else.
            conversation.images = []
            output.say("The pictures were dropped. To add them again: /image FILE")
        }
        return true
    }

    /// Keeps a prompt that was not sent, for a host that cannot be reached, if the user wants it.
    ///
    /// - Returns: Whether it waits on this machine.
    private mutating func queues(_ prompt: String, after error: any Error) async throws -> Bool {
        guard isOutOfReach(error), conversation.images.isEmpty,
            session.host.family.behavior.facts.queuing != .none, output.context.canAsk
        else { return false }
        let name = TerminalText.line(session.host.name)
        let isUncertain = (error as? CompanionClientError)?.mayStillArrive == true
        let question =
            isUncertain
            ? "\(name) may still get the prompt. Keep it, and send it again only if you say so?"
            : "Keep the prompt, to be sent once when \(name) is back?"
        guard try await confirms(question) else { return false }
        // What was allowed once was allowed for this prompt.
        var kept = conversation
        kept.allowedTools = kept.allowedTools.map { $0 + allowedOnce }
        do {
            let waiting = try session.queue(prompt, in: kept, as: isUncertain ? .uncertain : .waiting)
            let next =
                isUncertain
                ? " and is marked uncertain. To send it again: pairtool outbox send --again \(waiting.id)"
                : ". Once \(name) is back: pairtool outbox send"
            output.say("The prompt waits as \(waiting.id)\(next)")
        } catch {
            output.report(AppError(describing: error))
            return false
        }
        allowedOnce = []
        return true
    }

    /// The message after the user stopped waiting for an answer.
    var stoppedWaiting: String {
        session.offer.turns?.endsWithReader == true
            ? "Stopped. /history shows the answer so far."
            : "Stopped waiting. The host finishes the answer; /history shows it."
    }

    /// Sends a prompt and shows the answer.
    ///
    /// - Returns: The conversation after the answer; nil if the host has cancelled it.
    private func waitForAnswer(_ prompt: String, as turn: CancellableTurn) async throws -> Outcome<Conversation?> {
        let conversation = conversation
        return try await run(
            turn.hasRun ? stoppedWaiting : "Stopped; this prompt was not sent.",
            interrupt: { turn.interrupt() },
            { try await conversation.sending(prompt, as: turn) }
        )
    }
}
