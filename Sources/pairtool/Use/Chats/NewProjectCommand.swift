import ArgumentParser
import CompanionClient
import CompanionWire

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
        try await host.withSession(options) { session in
            let commands = try session.commands(to: "create projects")
            let project = try await commands.createProject(name: name.trimmingBlanks(), localPath: path)
            let row = ProjectRow(MergedProject(project: project, ids: [project.id]))
            session.output.result(row, id: project.id) {
                TerminalText.line("Project \(project.name) (\(project.id)) at \(project.localPath)")
            }
        }
    }
}
