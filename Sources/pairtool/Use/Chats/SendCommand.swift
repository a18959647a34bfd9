import ArgumentParser
import CompanionClient
import CompanionWire

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
            a prompt twice. The agent may use no tools unless you allow them.

            Examples:
              pairtool send --new "explain beds/water.py" --allow-tool read_file
              pairtool send "show beds" "and now the pump"
              git diff | pairtool send "review"
            """
    )

    @Argument(
        help: ArgumentHelp(
            """
            The chat, by title or id prefix, and the prompt. Without a prompt, or with -, it is read from standard input; \
            at a terminal only with -.
            """
        ),
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var words: [String] = []

    /// Whether the prompt is left out, because it comes from standard input.
    private var lacksPrompt: Bool { words.count == (new ? 0 : 1) && !CommandContext.current.stdinIsTerminal }

    @Flag(help: "Start a new chat with the prompt.")
    var new = false

    @Option(
        help: "The project of the new chat, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String?

    @Option(
        help: "The language model. Default: the first that `pairtool models` lists.",
        completion: .custom { words, _, _ in await Completions.models(words) }
    )
    var model: String?

    @Option(
        name: .customLong("image"),
        help:
            "Send this picture with the prompt (PNG, JPEG, GIF or WebP; repeatable), if the host accepts pictures.",
        completion: .file()
    )
    var images: [String] = []

    @OptionGroup var tools: ToolOptions
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard lacksPrompt || words.count == (new ? 1 : 2) else {
            throw ValidationError(
                new
                    ? "With --new, give only the prompt, in quotes."
                    : "Give the chat and the prompt, the prompt in quotes."
            )
        }
        if project != nil, !new { throw ValidationError("--project needs --new.") }
    }

    func run() async throws {
        let prompt = try await promptText(options.output.context)
        let pictures = try await PromptPicture.read(images)
        try await rendering.prepare(options)
        try await host.withSession(options, isPlain: rendering.plain) { session in
            var conversation = try await Conversation.open(
                new ? nil : words[0],
                project: project,
                in: session,
                model: model,
                allowedTools: tools.allowedTools
            )
            conversation.images = pictures
            try await conversation.prepare(for: prompt)
            if new { session.output.say("Chat \(conversation.chatID)") }
            do {
                try await conversation.send(prompt)
            } catch  where Task.isCancelled {
                let stopped =
                    session.offer.turns?.endsWithReader == true
                    ? "Stopped. See the answer so far" : "Stopped waiting. The host finishes the answer; see it"
                session.output.say("\(stopped): pairtool messages \(conversation.chatID.prefix(8))")
                throw error
            }
            if session.output.format == .quiet { session.output.data(TerminalText.block(conversation.lastAnswer)) }
        }
    }

    private func promptText(_ context: CommandContext) async throws -> String {
        var prompt = lacksPrompt ? "-" : words[words.count - 1]
        if prompt == "-" {
            guard let bytes = try await context.content(limit: 1 << 20) else {
                throw CommandError(.usage, "prompt.too_long", "the prompt is longer than 1 MiB")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandError(.usage, "prompt.encoding", "the prompt is not UTF-8 text")
            }
            prompt = text
        }
        guard !prompt.trimmingWhitespace().isEmpty else {
            throw CommandError(.usage, "prompt.empty", "the prompt is empty; nothing was sent")
        }
        return prompt
    }
}
