import ArgumentParser
import CompanionApp
import CompanionWire
import FoundationEssentials
import History
import LocalState
import PairingAgent
import Terminal

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the chats that this machine has read.",
        discussion: """
            No host is asked. To export a whole chat, read it first: pairtool messages CHAT --all.

            Examples:
              pairtool export "show beds"
              pairtool export garden -o garden.md
              pairtool export --all --format json -o chats.jsonl
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case md, json
    }

    @Argument(help: "The chat or project, by title, name or id prefix.")
    var name: String?

    @Flag(help: "All chats.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "The format: md or json. Default: from the output file's extension, else md.",
            valueName: "format"
        )
    )
    var format: Format?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file (mode 0600). Default: standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Option(
        help: "Only this host, by name or id prefix. Default: all.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @OptionGroup var options: OutputOptions

    func validate() throws {
        if options.json, format ?? .json != .json {
            throw ValidationError("--json and --format cannot be used together.")
        }
        guard (name != nil) != all else { throw ValidationError("Give a chat or project, or --all.") }
    }

    func run() async throws {
        let screen = options.output
        try await screen.withHistory { history in
            let hostID: String? = if let host { try await history.store.host(host).id } else { nil }
            let chats = try choose(try await history.store.allChats(hostID: hostID))
            if let output {
                let draft = try await BlockingCall.run { try OutputDraft(output) }
                try await write(chats, of: history.store) { text in
                    try await BlockingCall.run { try draft.write(text) }
                }
                try await BlockingCall.run { try draft.finish() }
            } else {
                try await write(chats, of: history.store) { screen.context.stdout.write($0) }
            }
            if let output {
                screen.say("Wrote \(chats.count == 1 ? "1 chat" : "\(chats.count) chats") to \(output).")
            }
            let partial = chats.filter { $0.unread > 0 || $0.readAt == nil }
            if !partial.isEmpty {
                let what = partial.count == 1 ? "1 chat is" : "\(partial.count) chats are"
                let all = partial.count == 1 ? "it" : "one"
                screen.say("\(what) incomplete. To read all of \(all), run: pairtool messages CHAT --all")
            }
        }
    }

    private func write(
        _ chats: [HistoryChat],
        of store: HistoryStore,
        _ put: (String) async throws -> Void
    ) async throws {
        var writer = chosenFormat.writer(now: TerminalContext.current.now())
        try await put(writer.beginning)
        for chat in chats {
            try await put(writer.begin(chat))
            var last: HistoryMessage?
            repeat {
                let page = try await store.messages(of: chat, after: last)
                if !page.isEmpty { try await put(page.map { writer.text($0) }.joined()) }
                last = page.last
                try Task.checkCancellation()
            } while last != nil
        }
    }

    private var chosenFormat: Format {
        if options.json { return .json }
        if let format { return format }
        let ending = output?.parts(".").last?.lowercased() ?? ""
        return ending.begins(with: "json") ? .json : .md
    }

    private func choose(_ chats: [HistoryChat]) throws -> [HistoryChat] {
        guard !chats.isEmpty else {
            throw AppError(.nothingFound, "chat.none", "no chat was read yet", next: "pairtool chats")
        }
        guard let name else { return chats }
        do {
            return [
                try NameMatch.find(
                    name,
                    in: chats,
                    kind: "chat",
                    listing: "pairtool chats",
                    ids: { [$0.chat.id] },
                    names: { [$0.chat.title] }
                )
            ]
        } catch {
            // The error about chats also says if several match.
            guard let project = try? Self.project(name, in: chats) else { throw error }
            return chats.filter { $0.isInProject(of: project) }
        }
    }

    /// A chat of the project that a word names.
    private static func project(_ name: String, in chats: [HistoryChat]) throws -> HistoryChat {
        var projects: [HistoryChat] = []
        for chat in chats where chat.project != nil && !projects.contains(where: chat.isInProject) {
            projects.append(chat)
        }
        return try NameMatch.find(
            name,
            in: projects,
            kind: "project",
            listing: "pairtool projects",
            ids: { [$0.project?.id ?? ""] },
            names: { [$0.project?.name ?? "", $0.project?.localPath ?? ""] }
        )
    }
}

extension HistoryChat {
    fileprivate func isInProject(of other: HistoryChat) -> Bool {
        guard let project, let otherProject = other.project else { return false }
        return host.id.isSame(as: other.host.id) && project.id.isSame(as: otherProject.id)
    }
}

extension ExportCommand.Format {
    func writer(now: Date) -> any ChatWriter {
        switch self {
        case .md: MarkdownWriter()
        case .json: ArchiveWriter(now: now)
        }
    }
}
