import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent

struct ChatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "List the chats of a project, or of all projects, newest first.",
        discussion: """
            Examples:
              pairtool chats
              pairtool chats garden
              pairtool chats --all-hosts --json
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

    @OptionGroup var all: AllHostsOptions
    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try all.check(host)
        if project != nil, namedProject != nil {
            throw ValidationError("Name the project once: as PROJECT or with --project.")
        }
    }

    private static let nothing = AppError(
        .nothingFound,
        "chat.none",
        "there is no chat yet",
        next: "start one: pairtool send --new \"PROMPT\""
    )

    func run() async throws {
        guard !all.allHosts else { return try await listAll() }
        try await host.selector.withKnownSession(options.output, in: options.environment, known: known) {
            session,
            output in
            let projects: [MergedProject]
            if let project = project ?? namedProject {
                projects = [try await session.project(project)]
            } else {
                projects = try await session.projects.mergedProjects()
            }
            let chats = try await session.chats(in: projects)
            guard !chats.isEmpty else {
                if session.stored != nil { throw StoredHost.Unknown() }
                throw Self.nothing
            }
            let now = output.context.now()
            var columns: [TableColumn<ChatRow>] = [
                TableColumn("TITLE", shrinks: true, rank: 0) { $0.title },
                TableColumn("UPDATED") { TimeText.ago($0.lastUpdatedAt, now: now) },
                TableColumn("ID", rank: 0) { $0.id.shortID },
            ]
            if projects.count > 1 { columns.append(TableColumn("PROJECT", shrinks: true, rank: 2) { $0.projectName }) }
            let rows = chats.map(ChatRow.init)
            columns += TableColumn.mode(rows) { $0.mode }
            output.list(rows, columns: columns, id: \.id)
        }
    }

    private func listAll() async throws {
        let output = options.output
        let hosts = try host.selector.pairedHosts(with: .projects, for: "chats", in: options.environment)
        let word = project ?? namedProject
        let found = try await host.selector.askKnown(hosts, all: all, known: known, on: output) { session in
            let projects: [MergedProject]
            if let word {
                projects = [try await session.project(word)]
            } else {
                projects = try await session.projects.mergedProjects()
            }
            let chats = try await session.chats(in: projects)
            if chats.isEmpty, session.stored != nil { throw StoredHost.Unknown() }
            return chats
        }
        found.reportFailures(output)
        let rows = found.rows(ChatRow.init)
        guard !rows.isEmpty else {
            guard let word, found.answers.isEmpty else { throw found.failure(Self.nothing) }
            let unknown = "none of the hosts that answered has the project “\(word)”"
            let next = "pairtool projects --all-hosts"
            throw found.failure(AppError(.nothingFound, "project.unknown", unknown, next: next))
        }
        let mode = TableColumn.mode(rows, rank: 2) { $0.row.mode }
        output.list(rows, title: ("TITLE", \.title), place: ("PROJECT", \.projectName), more: mode)
    }
}

/// A chat in JSON.
struct ChatRow: DatedRow {
    var id: String
    var title: String
    var projectId: String
    var projectName: String
    var lastUpdatedAt: Date?
    var mode: AgentMode?

    init(_ item: ChatInProject) {
        id = item.chat.id
        title = item.chat.title
        projectId = item.chat.projectId
        projectName = item.project.project.name
        lastUpdatedAt = item.chat.lastUpdatedAt
        mode = item.chat.mode
    }
}
