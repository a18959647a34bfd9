import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct ChatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "List chats, create one, or cancel a turn.",
        discussion: """
            Examples:
              pairtool chats garden
              pairtool chats new garden --title Plans
              pairtool chats cancel "show beds"
            """,
        subcommands: [ChatsListCommand.self, ChatsNewCommand.self, ChatsCancelCommand.self],
        defaultSubcommand: ChatsListCommand.self
    )
}

struct ChatsListCommand: AsyncParsableCommand, TakingWords {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the chats of a project, or of all projects, newest first.",
        discussion: """
            Examples:
              pairtool chats list garden
              pairtool chats list --all-hosts --json
            """
    )

    @Argument(
        help: "The project, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String?

    @OptionGroup var all: AllHostsOptions
    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try all.check(host)
    }

    private static let nothing = AppError.empty("No chat yet", next: "pairtool send --new \"PROMPT\"")

    func run() async throws {
        guard !all.allHosts else { return try await listAll() }
        let output = options.output
        let answer = try await host.selector.read(known.mode, in: options.environment) { session in
            let (projects, chats) = try await session.chats(inProject: project)
            guard !chats.isEmpty else { throw Self.nothing }
            return (projects: projects, chats: chats)
        }
        let now = output.context.now()
        var columns: [TableColumn<ChatRow>] = [
            TableColumn("TITLE", shrinks: true, rank: 0) { $0.title },
            TableColumn("UPDATED") { TimeText.ago($0.lastUpdatedAt, now: now) },
            .id { $0.id },
        ]
        if answer.value.projects.count > 1 {
            columns.append(TableColumn("PROJECT", shrinks: true, rank: 2) { $0.projectName })
        }
        let rows = answer.value.chats.map(ChatRow.init)
        columns += ChatRow.agentColumn(rows) { $0 } + TableColumn.mode(rows) { $0.mode }
        output.list(rows, columns: columns, from: answer.source, id: \.id)
    }

    private func listAll() async throws {
        let (output, environment) = (options.output, options.environment)
        let hosts = try host.selector.pairedHosts(with: .projects, for: "chats", in: environment)
        let limit = all.limit ?? environment.hostLimit
        let found = HostAnswers(
            try await host.selector.read(hosts, known.mode, in: environment, limit: limit) {
                try await $0.chats(inProject: project).chats
            }
        )
        found.reportFailures(output)
        let rows = found.rows(ChatRow.init)
        guard !rows.isEmpty else {
            guard let project, found.answers.isEmpty else { throw found.failure(Self.nothing) }
            let unknown = "none of the hosts that answered has the project “\(project)”"
            let next = "pairtool projects --all-hosts"
            throw found.failure(AppError(.nothingFound, "project.unknown", unknown, next: next))
        }
        let more = ChatRow.agentColumn(rows) { $0.row } + TableColumn.mode(rows, rank: 2) { $0.row.mode }
        output.list(rows, title: ("TITLE", \.title), place: ("PROJECT", \.projectName), more: more)
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
    /// The id of the model, or the agent, that answered last.
    var model: String?
    /// `agent` for a session of an agent that no device began, and that was not opened yet.
    var origin: CompanionChat.Origin?
    /// True while the agent says that another program has it open.
    var isOpenElsewhere: Bool?

    init(_ item: ChatInProject) {
        id = item.chat.id
        title = item.chat.title
        projectId = item.chat.projectId
        projectName = item.project.project.name
        lastUpdatedAt = item.chat.lastUpdatedAt
        mode = item.chat.mode
        model = item.chat.model
        origin = item.chat.origin
        isOpenElsewhere = item.chat.isOpenElsewhere
    }

    private var agentText: String {
        isOpenElsewhere == true ? "\(model ?? "agent"), open elsewhere" : model ?? "–"
    }

    /// The column of the agents, where there are several, or sessions of an agent's own.
    static func agentColumn<Row>(_ rows: [Row], _ chat: @escaping @Sendable (Row) -> ChatRow) -> [TableColumn<Row>] {
        let chats = rows.map(chat)
        let isOne = chats.compactMap(\.model).unique.count <= 1
        guard !isOne || chats.contains(where: { $0.origin != nil || $0.isOpenElsewhere == true }) else { return [] }
        return [TableColumn("AGENT", shrinks: true, rank: 3) { chat($0).agentText }]
    }
}
