import ArgumentParser
import CompanionClient
import CompanionWire

struct NewSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Start a session of the agent in a project.",
        discussion: """
            Example:
              pairtool new session garden
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
        try await host.withSession(options) { session in
            let commands = session.offer.sessions == nil ? try session.commands(to: "start sessions") : nil
            let project = try await session.project(project)
            let id =
                if let commands {
                    try await commands.createSession(projectID: project.id)
                } else {
                    try await session.sessions.beginSession(in: project.project.localPath)
                }
            session.output.result(Row(sessionId: id, projectId: project.id), id: id) {
                TerminalText.line("Session \(id) in \(project.project.name)")
            }
        }
    }
}
