import ArgumentParser
import CompanionClient

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Talk in a chat, prompt by prompt.",
        discussion: """
            Without CHAT a new one is started. Ctrl-C stops waiting for an answer (the host finishes it); at the prompt, \
            Ctrl-D or /quit ends. /help lists the commands.
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
        help: "The language model. Default: the first that `pairtool models` lists.",
        completion: .custom { words, _, _ in await Completions.models(words) }
    )
    var model: String?

    @Option(
        name: .customLong("image"),
        help: ArgumentHelp(
            """
            A picture that goes with the first prompt (PNG, JPEG, GIF or WebP), where the host takes some; may be repeated. \
            In the chat, /image FILE adds one to the next prompt.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var images: [String] = []

    @Option(help: "How many earlier messages to show at first.")
    var history = 6

    @OptionGroup(title: "Going on by itself") var auto: AutoOptions
    @OptionGroup var tools: ToolOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if project != nil, chat != nil { throw ValidationError("--project goes with a new chat, without CHAT.") }
        if history < 0 { throw ValidationError("--history takes 0 or more.") }
    }

    func run() async throws {
        let pictures = try await PromptPicture.read(images)
        try await host.withSession(options) { session in
            var conversation =
                if let chat {
                    try await Conversation.existing(chat, in: session, model: model, allowedTools: tools.allowedTools)
                } else {
                    try await Conversation.new(
                        project: project,
                        in: session,
                        model: model,
                        allowedTools: tools.allowedTools
                    )
                }
            if !pictures.isEmpty { try conversation.checkTakesImages() }
            conversation.images = pictures
            var loop = ChatLoop(
                session: session,
                conversation: conversation,
                history: history,
                auto: auto.response
            )
            try await loop.run()
        }
    }
}
