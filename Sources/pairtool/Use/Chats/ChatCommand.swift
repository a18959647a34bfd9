import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import LineEditor
import Terminal

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Chat interactively.",
        discussion: """
            Starts a new chat unless you name one. Editing keys are those of Emacs and bash; Alt-Enter begins another \
            line, and Ctrl-X Ctrl-E opens $VISUAL or $EDITOR. @FILE attaches a text file. Ctrl-C cancels an answer if \
            the host can do that; otherwise pairtool stops waiting, and the host still finishes it. Ctrl-D or /quit \
            ends the chat. /help lists the commands.

            Examples:
              pairtool chat
              pairtool chat "show beds"
              pairtool chat --project garden --auto smart-stop
            """
    )

    @Argument(
        help: "The chat, by title or id prefix.",
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var chat: String?

    @Option(
        help: "The project of a new chat, by name, path or id prefix.",
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
        help: ArgumentHelp(
            """
            Send this picture with the first prompt (PNG, JPEG, GIF or WebP; repeatable), if the host accepts pictures. In \
            the chat, /image FILE adds one to the next prompt.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var images: [String] = []

    @Option(help: ArgumentHelp("Show the last N messages first. Default: 6.", valueName: "n"))
    var last: Int?

    @Flag(help: "Do not keep prompts for later chats, and do not offer earlier ones.")
    var noHistory = false

    @OptionGroup(title: "Auto mode options") var auto: AutoOptions
    @OptionGroup var tools: ToolOptions
    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var notifications: NotificationOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if project != nil, chat != nil { throw ValidationError("--project is for a new chat: leave out CHAT.") }
        if let last, last < 0 { throw ValidationError("--last must be 0 or more.") }
    }

    func run() async throws {
        let pictures = try await PromptPicture.read(images, in: options.environment)
        var output = notifications.output(options)
        output.isPlain = rendering.plain
        let completer = ChatCompleter(context: output.context)
        let (prompts, context) = output.context.promptReader(
            keepsHistory: !noHistory,
            hint: "(Ctrl-D or /quit ends the chat)",
            completer: { await completer.completion(of: $0.text) }
        )
        defer { prompts.close() }
        // What asks the user during an answer shares the terminal with the prompts.
        output.context = context
        try await runLoop(prompts, completer: completer, pictures: pictures, on: output)
    }

    private func runLoop(
        _ prompts: any PromptReader,
        completer: ChatCompleter,
        pictures: [TurnImage],
        on output: Output
    ) async throws {
        let environment = output.environment()
        var host = self.host.selector
        if let chat { host = try await host.holding(chat: chat, in: environment) }
        try await host.withSession(environment) { session in
            var conversation = try await Conversation.open(
                chat,
                project: project,
                in: session,
                view: output.turnView,
                model: model,
                allowedTools: tools.allowedTools,
                deniesQuestions: tools.denyQuestions
            )
            conversation.sayToolHints()
            if !pictures.isEmpty { try await conversation.checkTakesImages() }
            conversation.images = pictures
            var loop = ChatLoop(
                session: session,
                conversation: conversation,
                output: output,
                prompts: prompts,
                completer: completer,
                history: last ?? 6,
                auto: auto.response
            )
            try await loop.run()
        }
    }
}
