import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import PairingAgent
import Terminal

struct SessionsEndCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "End a session on the host, to make room for another one.",
        discussion: """
            `pairtool messages` still shows its messages, but the agent no longer knows them.

            Examples:
              pairtool aicli sessions end garden
              pairtool aicli sessions end ~/garden --host Studio
            """
    )

    @Argument(help: "The session, by its project's name or directory, or by id prefix.")
    var session: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var id: String
        var workingDirectory: String?
        /// Whether the session no longer exists on the host.
        var ended: Bool
    }

    func run() async throws {
        try await host.selector.withAICLI(options.environment, for: "sessions") { aicli in
            let found = try await find(in: aicli)
            guard try await aicli.client.endSession(found.id) else {
                throw AppError(
                    .failed,
                    "session.not_ended",
                    "the host still lists session \(found.id.shortID): this server cannot end a session on request",
                    next: "wait until it expires, or restart the server"
                )
            }
            try aicli.store.updateSessions { $0.forget(found.id) }
            options.output.result(found, id: found.id) {
                TerminalText.line("Ended the session of \(found.workingDirectory ?? "another device").")
            }
        }
    }

    private func find(in aicli: AICLIHost) async throws -> Row {
        let known = try aicli.store.sessions().sessions
        let projects = (try? await aicli.client.projects()) ?? []
        let directory = projects.first { $0.name == session }?.localPath ?? session
        if let own = known.first(where: { $0.workingDirectory.isSame(as: directory) }) {
            return Row(id: own.id, workingDirectory: own.workingDirectory, ended: true)
        }
        let listed = try await aicli.client.sessionIDs().union(known.map(\.id))
        let matches = listed.contains(session) ? [session] : listed.filter { $0.begins(with: session) }.sorted()
        guard let id = matches.first, session.utf8.count >= 4 else {
            throw AppError(
                .nothingFound,
                "session.unknown",
                "no session matches “\(session)”",
                next: "pairtool aicli sessions"
            )
        }
        guard matches.count == 1 else {
            throw AppError(
                .usage,
                "session.ambiguous",
                "“\(session)” matches \(matches.count) sessions",
                next: "pairtool aicli sessions"
            )
        }
        let own = known.first { $0.id == id }
        return Row(id: id, workingDirectory: own?.workingDirectory, ended: true)
    }
}
