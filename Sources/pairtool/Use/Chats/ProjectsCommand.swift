import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity

struct ProjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projects",
        abstract: "List the host's projects, newest first.",
        discussion: """
            Examples:
              pairtool projects
              pairtool projects --host Studio --json
            """
    )

    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await host.withKnownSession(options, known) { session in
            let projects = try await session.projects.mergedProjects()
            guard !projects.isEmpty else {
                throw CommandError(.nothingFound, "project.none", "\(session.host.name) has no projects")
            }
            let now = session.context.now()
            session.output.list(
                projects.map(ProjectRow.init),
                columns: [
                    TableColumn("NAME", shrinks: true, rank: 0) { $0.name },
                    TableColumn("UPDATED", rank: 2) { TimeText.ago($0.lastUpdatedAt, now: now) },
                    TableColumn("ID", rank: 0) { String($0.id.prefix(8)) },
                    TableColumn("PATH", shrinks: true) { $0.localPath },
                ],
                id: \.id
            )
        }
    }
}

/// A project in JSON.
struct ProjectRow: Encodable {
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
