import ArgumentParser
import CompanionClient
import CompanionWire

struct NewChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Create an empty chat in a project.",
        discussion: """
            Examples:
              pairtool new chat garden
              pairtool new chat garden --title Plans
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
        try await host.withSession(options) { session in
            let commands = try session.commands(to: "create empty chats")
            let project = try await session.project(project)
            let chat = try await commands.createChat(projectID: project.id, title: title)
            session.output.result(ChatRow(ChatInProject(chat: chat, project: project)), id: chat.id) {
                TerminalText.line(
                    "Chat \(chat.title.isEmpty ? "" : "“\(chat.title)” ")(\(chat.id)) in \(project.project.name)"
                )
            }
        }
    }
}
