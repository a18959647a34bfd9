import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import PairingAgent
import Terminal

struct ProjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projects",
        abstract: "List the host's projects, or create one.",
        discussion: """
            Examples:
              pairtool projects
              pairtool projects --all-hosts
              pairtool projects new garden
            """,
        subcommands: [ProjectsListCommand.self, ProjectsNewCommand.self],
        defaultSubcommand: ProjectsListCommand.self
    )
}

struct ProjectsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the host's projects, newest first.",
        discussion: """
            Examples:
              pairtool projects list
              pairtool projects list --host Studio --json
            """
    )

    @OptionGroup var all: AllHostsOptions
    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        try all.check(host)
    }

    func run() async throws {
        guard !all.allHosts else { return try await listAll() }
        let output = options.output
        let answer = try await host.selector.read(known.mode, in: options.environment) { session in
            let projects = try await session.projects.mergedProjects()
            guard !projects.isEmpty else {
                throw AppError.empty("No project on \(session.host.name)")
            }
            return projects
        }
        let now = output.context.now()
        output.list(
            answer.value.map(ProjectRow.init),
            columns: [
                TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                TableColumn("UPDATED", rank: 2) { TimeText.ago($0.lastUpdatedAt, now: now) },
                .id { $0.id },
                TableColumn("PATH", shrinks: true) { $0.localPath },
            ],
            from: answer.source,
            id: \.id
        )
    }

    private func listAll() async throws {
        let (output, environment) = (options.output, options.environment)
        let hosts = try host.selector.pairedHosts(with: .projects, for: "projects", in: environment)
        let limit = all.limit ?? environment.hostLimit
        let found = HostAnswers(
            try await host.selector.read(hosts, known.mode, in: environment, limit: limit) { session in
                let projects = try await session.projects.mergedProjects()
                if projects.isEmpty, session.stored != nil { throw StoredHost.Unknown() }
                return projects
            }
        )
        found.reportFailures(output)
        let rows = found.rows(ProjectRow.init)
        guard !rows.isEmpty else {
            throw found.failure(.empty("No project on the paired hosts"))
        }
        output.list(rows, title: ("NAME", \.name), place: ("PATH", \.localPath))
    }
}

struct ProjectsNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a project on a verified host.",
        discussion: """
            Examples:
              pairtool projects new garden
              pairtool projects new garden --path /home/ada/garden
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

/// A project in JSON.
struct ProjectRow: DatedRow {
    var id: String
    /// All ids under which the host lists the path.
    var ids: [String]
    var name: String
    var localPath: String
    var lastUpdatedAt: Date?

    init(_ project: MergedProject) {
        id = project.id
        ids = project.ids
        name = project.project.name
        localPath = project.project.localPath
        lastUpdatedAt = project.project.lastUpdatedAt
    }
}
