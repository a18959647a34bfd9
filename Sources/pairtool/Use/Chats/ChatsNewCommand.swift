import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import Terminal

struct ChatsNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create an empty chat in a project on a verified host.",
        discussion: """
            Examples:
              pairtool chats new garden
              pairtool chats new garden --title Plans
            """
    )

    @Argument(
        help: "The project, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String

    @Option(help: "The title. Default: the host chooses.")
    var title: String?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let creation = try session.creation(of: "empty chats")
            let project = try await session.project(project)
            let chat = try await creation.createChat(projectID: project.id, title: title)
            await session.recorder?.keep(chat: chat)
            options.output.result(ChatRow(ChatInProject(chat: chat, project: project)), id: chat.id) {
                TerminalText.line(
                    "Chat \(chat.title.isEmpty ? "" : "“\(chat.title)” ")(\(chat.id)) in \(project.project.name)"
                )
            }
        }
    }
}
