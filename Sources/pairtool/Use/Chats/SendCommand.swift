import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a prompt to a chat and print the answer as it arrives.",
        usage: """
            pairtool send CHAT PROMPT
            pairtool send CHAT < prompt.txt
            pairtool send --new [--project PROJECT] PROMPT
            """,
        discussion: """
            If the connection breaks, pairtool reads the rest of the answer from the chat's history. It never sends \
            a prompt twice.

            Agents decide which tools they ask about; --allow-tool answers for you. They use the others without \
            asking; in each turn, a line names the first tool of each kind that was neither allowed nor asked about. \
            Only models that a host runs itself, and Macs, are limited to the tools that you allow. The built-in agent \
            only reads, and needs no permission.

            Examples:
              pairtool send --new "explain beds/water.py" --allow-tool read_file
              pairtool send "show beds" "and now the pump" --queue
              git diff | pairtool send "show beds"
            """
    )

    @Argument(
        help: ArgumentHelp(
            """
            The chat, by title or id prefix, and the prompt. If the prompt is missing or -, it is read from standard \
            input; on a terminal, only if it is -.
            """
        ),
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var words: [String] = []

    /// Whether the prompt is left out, because it comes from standard input.
    private var lacksPrompt: Bool { words.count == (new ? 0 : 1) && !TerminalContext.current.stdinIsTerminal }

    @Flag(help: "Start a new chat with the prompt.")
    var new = false

    @Option(
        help: "The project of the new chat, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String?

    @Option(
        name: [.customLong("model"), .customLong("agent")],
        help: "The model or agent. Default: the chat's; for a new chat, the first that `pairtool models` lists.",
        completion: .custom { words, _, _ in await Completions.models(words) }
    )
    var model: String?

    @Option(
        name: .customLong("image"),
        help:
            ArgumentHelp(
                "Send this picture with the prompt (PNG, JPEG, GIF or WebP; repeatable), if the host accepts pictures.",
                valueName: "file"
            ),
        completion: .file()
    )
    var images: [String] = []

    @Flag(help: "If the host cannot be reached, keep the prompt on this machine, for `pairtool outbox send`.")
    var queue = false

    @OptionGroup var tools: ToolOptions
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var notifications: NotificationOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard lacksPrompt || words.count == (new ? 1 : 2) else {
            guard new else { throw ValidationError("Give the chat and the prompt, the prompt in quotes.") }
            throw ValidationError(
                words.isEmpty
                    ? "Give the prompt, in quotes: pairtool send --new \"PROMPT\""
                    : "With --new, give only the prompt, in quotes."
            )
        }
        if project != nil, !new { throw ValidationError("--project needs --new.") }
        if queue, !images.isEmpty { throw ValidationError("--queue and --image cannot be used together.") }
    }

    func run() async throws {
        var output = notifications.output(options)
        output.isPlain = rendering.plain
        let environment = output.environment()
        let prompt = try await output.context.prompt(lacksPrompt ? "-" : words[words.count - 1])
        let pictures = try await PromptPicture.read(images, in: output.environment())
        let host = new ? self.host.selector : try await self.host.selector.holding(chat: words[0], in: environment)
        guard !queue else {
            return try await QueuedSend(host: host, output: output).send(prompt) {
                try await open(in: $0, shownOn: output)
            }
        }
        var (isReached, isTold) = (false, false)
        do {
            try await host.withSession(environment) { session in
                isReached = true
                var conversation = try await open(in: session, shownOn: output)
                conversation.images = pictures
                do {
                    try await conversation.prepare(for: prompt)
                } catch is CancellationError where !Task.isCancelled {
                    // The user had a prompt cancelled that waited for the chat.
                    isTold = true
                    output.say("This prompt was not sent.")
                    throw ExitRequest(AppError.Kind.interrupted)
                }
                if new { output.say("Chat \(conversation.chatID)") }
                let turn = CancellableTurn(session, chatID: conversation.chatID)
                do {
                    let sent = try await environment.interaction.interruptible(by: { !turn.interrupt() }) {
                        try await conversation.sending(prompt, as: turn)
                    }
                    guard let sent else { throw ExitRequest(AppError.Kind.interrupted) }
                    conversation = sent
                } catch  where Task.isCancelled {
                    isTold = true
                    output.say(turn.stopped)
                    throw error
                }
                if output.format == .quiet { output.data(TerminalText.block(conversation.lastAnswer)) }
            }
        } catch  where Task.isCancelled && !isTold {
            output.say("Stopped; nothing was sent.")
            throw error
        } catch  where !isReached && !Task.isCancelled && isOutOfReach(error) {
            throw AppError(describing: error).adding(
                "Nothing was sent. To keep a prompt until its host is back: pairtool send --queue"
            )
        }
    }

    private func open(in session: HostSession, shownOn output: Output) async throws -> Conversation {
        let conversation = try await Conversation.open(
            new ? nil : words[0],
            project: project,
            in: session,
            view: output.turnView,
            model: model,
            allowedTools: tools.allowedTools,
            deniesQuestions: tools.denyQuestions
        )
        conversation.sayToolHints()
        return conversation
    }
}

extension TerminalContext {
    /// The text of a prompt.
    ///
    /// - Parameter word: The prompt, or `-` for standard input.
    /// - Throws: ``AppError`` for a text that is empty, too long or not UTF-8.
    func prompt(_ word: String) async throws -> String {
        var prompt = word
        if prompt == "-" {
            guard let bytes = try await content(limit: 1 << 20) else {
                throw AppError(.usage, "prompt.too_long", "the prompt is longer than 1 MiB")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw AppError(.usage, "prompt.encoding", "the prompt is not UTF-8 text")
            }
            prompt = text
        }
        guard !prompt.trimmingWhitespace().isEmpty else {
            throw AppError(.usage, "prompt.empty", "the prompt is empty; nothing was sent")
        }
        return prompt
    }
}
