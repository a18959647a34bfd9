import ArgumentParser
import CompanionWire
import FoundationEssentials
import History

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write chats as Markdown, HTML or JSON Lines, as far as they were read on this machine.",
        discussion: """
            No host is asked. To have a whole chat, read it first: pairtool messages CHAT --all. `pairtool import` reads \
            what is exported as JSON. HTML is one file without scripts, which loads nothing.

            Examples:
              pairtool export "show beds"
              pairtool export garden --format html -o garden.html
              pairtool export --all --format json -o chats.jsonl
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case md, html, json
    }

    @Argument(help: "The chat or project, by title, name or id prefix.")
    var name: String?

    @Flag(help: "All chats.")
    var all = false

    @Option(help: "The format: md, html or json. Default: by the output file's extension, else md.")
    var format: Format?

    @Option(name: .shortAndLong, help: "Write to this file (mode 0600). Default: standard output.", completion: .file())
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
            _ = await history.keepStored(screen)
            let hostID: String? = if let host { try await history.store.host(host).id } else { nil }
            let chats = try choose(try await history.store.allChats(hostID: hostID))
            let sink: any TextSink
            let memory = BufferSink()
            sink = output == nil ? screen.context.stdout : memory
            var writer = chosenFormat.writer(now: screen.context.now())
            sink.write(writer.beginning)
            for chat in chats {
                sink.write(writer.begin(chat))
                var last: HistoryMessage?
                repeat {
                    let page = try await history.store.messages(of: chat, after: last)
                    for message in page { sink.write(writer.text(message)) }
                    last = page.last
                    try Task.checkCancellation()
                } while last != nil
                sink.write(writer.end(chat))
            }
            sink.write(writer.ending)
            if let output {
                _ = try memory.withBytes { try OutputFile.write($0, to: output) }
                screen.say("Wrote \(chats.count == 1 ? "1 chat" : "\(chats.count) chats") to \(output).")
            }
            let partial = chats.filter { $0.unread > 0 || $0.readAt == nil }
            if !partial.isEmpty {
                let what = partial.count == 1 ? "1 chat is" : "\(partial.count) chats are"
                screen.say("\(what) not whole: read on this machine first, with pairtool messages CHAT --all.")
            }
        }
    }

    private var chosenFormat: Format {
        if options.json { return .json }
        if let format { return format }
        let ending = output?.parts(".").last?.lowercased() ?? ""
        return ending == "html" || ending == "htm" ? .html : ending.begins(with: "json") ? .json : .md
    }

    private func choose(_ chats: [HistoryChat]) throws -> [HistoryChat] {
        guard !chats.isEmpty else {
            throw CommandError(.nothingFound, "chat.none", "no chat was read yet", next: "pairtool chats")
        }
        guard let name else { return chats }
        let chat = try? NameMatch.find(
            name,
            in: chats,
            kind: "chat",
            listing: "pairtool chats",
            ids: { [$0.chat.id] },
            names: { [$0.chat.title] }
        )
        if let chat { return [chat] }
        var projects: [HistoryChat] = []
        for chat in chats where chat.project != nil {
            let isKnown = projects.contains { $0.host.id == chat.host.id && $0.project?.id == chat.project?.id }
            if !isKnown { projects.append(chat) }
        }
        let project = try? NameMatch.find(
            name,
            in: projects,
            kind: "project",
            listing: "pairtool projects",
            ids: { [$0.project?.id ?? ""] },
            names: { [$0.project?.name ?? "", $0.project?.localPath ?? ""] }
        )
        guard let project else {
            // The error of the search for a chat, which also tells of several that match.
            _ = try NameMatch.find(
                name,
                in: chats,
                kind: "chat",
                listing: "pairtool chats",
                ids: { [$0.chat.id] },
                names: { [$0.chat.title] }
            )
            return []
        }
        return chats.filter { $0.host.id == project.host.id && $0.project?.id == project.project?.id }
    }
}

extension ExportCommand.Format {
    func writer(now: Date) -> any ChatWriter {
        switch self {
        case .md: MarkdownWriter()
        case .html: HTMLWriter()
        case .json: ArchiveWriter(now: now)
        }
    }
}

/// Writes chats in a format.
protocol ChatWriter {
    var beginning: String { get }
    mutating func begin(_ chat: HistoryChat) -> String
    mutating func text(_ message: HistoryMessage) -> String
    mutating func end(_ chat: HistoryChat) -> String
    var ending: String { get }
}

extension ChatWriter {
    var beginning: String { "" }
    func end(_ chat: HistoryChat) -> String { "" }
    var ending: String { "" }

    /// `project, host, 2026-05-31T12:00:00Z`
    func place(_ chat: HistoryChat) -> String {
        ([chat.project?.name, chat.host.name, chat.chat.lastUpdatedAt.map(time)] as [String?]).compactMap(\.self)
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    func title(_ chat: HistoryChat) -> String { chat.chat.title.isEmpty ? chat.chat.id : chat.chat.title }

    func who(_ message: HistoryMessage) -> String {
        let role = message.message.role == .user ? "you" : message.message.role.rawValue
        return role + (message.message.createdAt.map { ", \(time($0))" } ?? "")
            + (message.message.interrupted == true ? ", interrupted" : "")
    }

    func line(_ tool: HistoryTool) -> String {
        let end = tool.success.map { $0 ? "done" : "failed" } ?? "end unknown"
        return "\(tool.name): \(end)" + (tool.detail.isEmpty ? "" : ": \(tool.detail)")
    }

    func time(_ date: Date) -> String { CompanionTimestamp.string(from: date) }
}

/// Keeps text in memory, for a file that is written as a whole.
private final class BufferSink: TextSink {
    // Safe because: one task writes, and reads when it has written.
    private nonisolated(unsafe) var bytes: [UInt8] = []

    func write(_ bytes: UnsafeRawBufferPointer) {
        self.bytes.append(contentsOf: bytes)
    }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}
