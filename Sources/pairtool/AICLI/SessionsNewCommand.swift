import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Terminal

struct SessionsNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Start a session in a project, and end the previous one.",
        discussion: """
            Examples:
              pairtool aicli sessions new garden
              pairtool aicli sessions new ~/garden --host Studio
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
        try await host.selector.withAICLI(options.environment, for: "sessions") { aicli in
            let project = try await aicli.project(project)
            let id = try await aicli.beginSession(in: project.project)
            options.output.result(Row(sessionId: id, projectId: project.id), id: id) {
                TerminalText.line("Session \(id) in \(project.project.name)")
            }
        }
    }
}
