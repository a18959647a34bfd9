import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import PairingAgent
import Terminal

struct AICLICommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aicli",
        abstract: "Manage the sessions of an AICLI host.",
        discussion: """
            Examples:
              pairtool aicli sessions
              pairtool aicli sessions end web
            """,
        subcommands: [SessionsCommand.self]
    )
}

struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List, start, end and clean up the agent's sessions on an AICLI host.",
        discussion: """
            A host keeps one session per project, and at most ten. Before pairtool uses a session, it checks it, and \
            starts a new one if it is gone. To start one yourself, use `pairtool aicli sessions new`.

            Examples:
              pairtool aicli sessions
              pairtool aicli sessions end garden
              pairtool aicli sessions cleanup
            """,
        subcommands: [List.self, SessionsNewCommand.self, SessionsEndCommand.self, Cleanup.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the sessions that this machine has started, and those of other devices.",
            discussion: """
                Examples:
                  pairtool aicli sessions list
                  pairtool aicli sessions list --json
                """
        )

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            try await host.selector.withAICLI(options.environment, for: "sessions") { aicli in
                let listed = try await aicli.client.sessionIDs()
                let now = output.context.now()
                let known = try aicli.store.sessions().sessions
                let rows =
                    known.map { SessionRow($0, isListed: listed.contains($0.id), now: now) }
                    + listed.subtracting(known.map(\.id)).sorted().map(SessionRow.init(foreign:))
                guard !rows.isEmpty else {
                    throw AppError.empty("No session yet: the first prompt starts one")
                }
                output.list(
                    rows,
                    columns: [
                        TableColumn("DIRECTORY", shrinks: true, rank: 0) {
                            $0.workingDirectory ?? "(of another device)"
                        },
                        TableColumn("STATE") { $0.state.rawValue },
                        TableColumn("USED", rank: 2) { $0.lastActivityAt.map { TimeText.ago($0, now: now) } ?? "" },
                        .id { $0.id },
                    ],
                    id: \.id
                )
            }
        }
    }

    struct Cleanup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cleanup",
            abstract: "Forget sessions that have expired or that the host no longer has.",
            discussion: """
                `pairtool messages` still shows their messages.

                Examples:
                  pairtool aicli sessions cleanup
                  pairtool aicli sessions cleanup --host Studio
                """
        )

        @OptionGroup var host: HostOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let output = options.output
            try await host.selector.withAICLI(options.environment, for: "sessions") { aicli in
                let listed = try await aicli.client.sessionIDs()
                let now = output.context.now()
                let gone = try aicli.store.updateSessions { $0.cleanUp(now: now, listed: listed) }
                let rows = gone.map { SessionRow($0, isListed: false, now: now) }
                switch output.format {
                case .json: rows.forEach { output.json($0) }
                case .quiet: rows.forEach { output.data(TerminalText.line($0.id)) }
                case .text:
                    rows.forEach {
                        output.data(TerminalText.line("Forgot the session of \($0.workingDirectory ?? $0.id)."))
                    }
                    if rows.isEmpty { output.say("There is nothing to clean up.") }
                }
            }
        }
    }
}

/// A session in JSON.
struct SessionRow: Encodable {
    enum State: String, Encodable {
        /// The host lists it, and it has not expired on this machine.
        case active
        /// The host no longer lists it.
        case gone
        /// It has expired on this machine, though the host still lists it.
        case expired
        /// It was not begun on this machine.
        case foreign
    }

    var id: String
    var state: State
    var workingDirectory: String?
    var chatId: String?
    var createdAt: Date?
    var lastActivityAt: Date?
    var expiresAt: Date?

    init(_ session: AICLISession, isListed: Bool, now: Date) {
        id = session.id
        state = !isListed ? .gone : session.expiresAt <= now ? .expired : .active
        workingDirectory = session.workingDirectory
        chatId = AICLISessionTable.chatID(for: session.workingDirectory)
        createdAt = session.createdAt
        lastActivityAt = session.lastActivityAt
        expiresAt = session.expiresAt
    }

    init(foreign id: String) {
        self.id = id
        state = .foreign
    }
}
