import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Identity
import Terminal

struct NewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a project, a session or a chat on a verified host.",
        discussion: """
            Examples:
              pairtool new project garden
              pairtool new chat garden --title Plans
            """,
        subcommands: [NewProjectCommand.self, NewSessionCommand.self, NewChatCommand.self]
    )
}

struct NewProjectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project",
        abstract: "Create a project.",
        discussion: """
            Examples:
              pairtool new project garden
              pairtool new project garden --path /home/ada/garden
            """
    )

    @Argument(help: "The name of the project.")
    var name: String

    @Option(help: "The directory on the host. Default: the host chooses.")
    var path: String?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try NameRule.check(name)
    }

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let creation = try session.creation(of: "projects")
            let project = try await creation.createProject(name: name.trimmingWhitespace(), localPath: path)
            await session.recorder?.keep(project: project)
            let row = ProjectRow(MergedProject(project: project, ids: [project.id]))
            options.output.result(row, id: project.id) {
                TerminalText.line("Project \(project.name) (\(project.id)) at \(project.localPath)")
            }
        }
    }
}

struct NewSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Start a session of the agent in a project.",
        discussion: """
            Examples:
              pairtool new session garden
              pairtool new session ~/garden --host Studio
            """
    )

    @Argument(
        help: "The project, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var sessionId: String
        var projectId: String
    }

    func run() async throws {
        try await host.selector.withSession(options.environment) { session in
            let sessions = try session.sessions
            let project = try await session.project(project)
            let id = try await sessions.beginSession(in: project.project)
            options.output.result(Row(sessionId: id, projectId: project.id), id: id) {
                TerminalText.line("Session \(id) in \(project.project.name)")
            }
        }
    }
}

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
