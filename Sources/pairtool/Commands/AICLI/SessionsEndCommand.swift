import ArgumentParser
import CompanionClient
import CompanionWire

struct SessionsEndCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "End a session at the host, which makes room for another one.",
        discussion: "What was said in it stays in `pairtool messages`, but the agent does not know it any more."
    )

    @Argument(help: "The session: its project's name or directory, or its id or the beginning of it.")
    var session: String

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    private struct Row: Encodable {
        var id: String
        var workingDirectory: String?
        /// Whether the host has it no more.
        var ended: Bool
    }

    func run() async throws {
        try await host.withAICLI(options, for: "sessions") { aicli in
            let found = try await find(in: aicli)
            guard try await aicli.client.endSession(found.id) else {
                throw CommandError(
                    .failed,
                    "session.not_ended",
                    "the host still lists session \(found.id.prefix(8)): this build of the server ends none on demand",
                    next: "wait until its time is over, or restart the server"
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
            throw CommandError(
                .nothingFound,
                "session.unknown",
                "there is no session of “\(session)”",
                next: "pairtool sessions"
            )
        }
        guard matches.count == 1 else {
            throw CommandError(
                .usage,
                "session.ambiguous",
                "“\(session)” begins the ids of \(matches.count) sessions",
                next: "pairtool sessions"
            )
        }
        let own = known.first { $0.id == id }
        return Row(id: id, workingDirectory: own?.workingDirectory, ended: true)
    }
}
