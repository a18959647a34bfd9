import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import Glibc
import Identity
import PairingAgent
import Terminal

struct ACPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acp",
        abstract: "Be an editor's agent: that of a host, over the network.",
        discussion: """
            Editors start this command, and speak the Agent Client Protocol with it: Zed, JetBrains, Neovim, Emacs. \
            docs/editors.md has their settings.

            Examples:
              pairtool acp --host studio --project garden
              pairtool acp map ~/src/garden garden
            """,
        subcommands: [ACPServeCommand.self, ACPMapCommand.self],
        defaultSubcommand: ACPServeCommand.self
    )
}

struct ACPServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Speak the Agent Client Protocol on standard input and output (the default).",
        discussion: """
            The editor's directory is a project of the host: the one of --project, the one at the same path, or the \
            one that `pairtool acp map` has stored. Turns go on at the host when the editor ends.

            Examples:
              pairtool acp serve --host studio
              pairtool acp serve --project garden --agent codex
            """
    )

    @Option(
        help: "The project at the host, by name, path or id prefix. Default: by the editor's directory.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String?

    @Option(
        help: "The agent of new sessions. Default: the first that `pairtool models` lists.",
        completion: .custom { words, _, _ in await Completions.models(words) }
    )
    var agent: String?

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        guard !output.context.stdinIsTerminal else {
            throw AppError(
                .usage,
                "acp.terminal",
                "an editor starts this command, and speaks with it over its standard input",
                next: "see docs/editors.md"
            )
        }
        // The editor may end before it has read all.
        signal(SIGPIPE, SIG_IGN)
        let streams = EditorStreams()
        let bridge = EditorBridge(
            host: host.selector,
            environment: output.environment(),
            choices: EditorBridge.Choices(project: project, agent: agent, version: Version.text)
        ) { streams.write($0) }
        await bridge.run(EditorStreams.lines())
        streams.finish()
    }
}

struct ACPMapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Store which project of a host a directory of this machine is.",
        discussion: """
            For projects that have another path at the host. Editors then need no --project.

            Examples:
              pairtool acp map ~/src/garden garden
              pairtool acp map . garden --host studio
            """
    )

    @Argument(help: "The directory on this machine.", completion: .directory)
    var directory: String

    @Argument(
        help: "The project at the host, by name, path or id prefix.",
        completion: .custom { words, _, _ in await Completions.projects(words) }
    )
    var project: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let environment = options.environment
        try await host.selector.withSession(environment) { session in
            let project = try await session.project(project)
            let entry = try EditorProjects(paths: environment.paths).add(directory, as: project, of: session.host)
            options.output.result(entry, id: entry.project) {
                TerminalText.line(
                    "\(entry.local) is \(project.project.name) (\(entry.project)) on \(session.host.name)"
                )
            }
        }
    }
}
