import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

struct ChatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "List the chats of a project, or of all projects, newest first.",
        discussion: """
            Examples:
              pairtool chats
              pairtool chats garden
            """
    )

    @Argument(
        help: "The project, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String?

    @Option(
        name: .customLong("project"),
        help: "The same as PROJECT.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var namedProject: String?

    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if project != nil, namedProject != nil {
            throw ValidationError("Name the project once: as PROJECT or with --project.")
        }
    }

    func run() async throws {
        try await host.withKnownSession(options, known) { session in
            let projects: [MergedProject]
            if let project = project ?? namedProject {
                projects = [try await session.project(project)]
            } else {
                projects = try await session.projects.mergedProjects()
            }
            let chats = try await session.chats(in: projects)
            guard !chats.isEmpty else {
                if session.stored != nil { throw StoredHost.Unknown() }
                throw CommandError(
                    .nothingFound,
                    "chat.none",
                    "there is no chat yet",
                    next: "start one: pairtool send --new \"PROMPT\""
                )
            }
            let now = session.context.now()
            var columns: [TableColumn<ChatRow>] = [
                TableColumn("TITLE", shrinks: true, rank: 0) { $0.title },
                TableColumn("UPDATED") { TimeText.ago($0.lastUpdatedAt, now: now) },
                TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
            ]
            if projects.count > 1 { columns.append(TableColumn("PROJECT", shrinks: true, rank: 2) { $0.projectName }) }
            session.output.list(chats.map(ChatRow.init), columns: columns, id: \.id)
        }
    }
}

/// A chat in JSON.
struct ChatRow: Encodable {
    var id: String
    var title: String
    var projectId: String
    var projectName: String
    var lastUpdatedAt: Date?

    init(_ item: ChatInProject) {
        id = item.chat.id
        title = item.chat.title
        projectId = item.chat.projectId
        projectName = item.project.project.name
        lastUpdatedAt = item.chat.lastUpdatedAt
    }
}
