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
            let writer = chosenFormat.writer(now: screen.context.now())
            let chats = try (await history.store.allChats(hostID: hostID)).named(name)
            if let output {
                let draft = try await BlockingCall.run { try OutputDraft(output) }
                try await writer.write(chats, of: history.store) { text in
                    try await BlockingCall.run { try draft.write(text) }
                }
                try await BlockingCall.run { try draft.finish() }
                screen.say("Wrote \(chats.count == 1 ? "1 chat" : "\(chats.count) chats") to \(output).")
            } else {
                try await writer.write(chats, of: history.store) { screen.context.stdout.write($0) }
            }
            let partial = chats.filter { $0.unread > 0 || $0.readAt == nil }
            if !partial.isEmpty {
                let what = partial.count == 1 ? "1 chat is" : "\(partial.count) chats are"
                let all = partial.count == 1 ? "it" : "one"
                screen.say("\(what) incomplete. To read all of \(all), run: pairtool messages CHAT --all")
            }
        }
    }

    private var chosenFormat: Format {
        if options.json { return .json }
        if let format { return format }
        let ending = output?.parts(".").last?.lowercased() ?? ""
        return ending.begins(with: "json") ? .json : .md
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
