import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import PairingAgent
import Terminal

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search the chats that this machine has listed, read or written.",
        discussion: """
            Finds messages that contain all of the words. Put an exact phrase in quotes; water* also finds “watering”. \
            The best matches come first; of equally good ones, the newest. If nothing matches, pairtool tries the \
            words as prefixes, then the text anywhere. It uses at most 64 words, and asks no host.

            Examples:
              pairtool search pump
              pairtool search '"water pump" valve*' --since 30d
              pairtool search pump --host Studio --project garden --role user --json
            """
    )

    @Argument(help: "The words (case does not matter).")
    var text: String

    @Option(
        help: "Only this host, by name or id prefix. Default: all.",
        completion: .custom { _, _, _ in Completions.hosts() }
    )
    var host: String?

    @Flag(help: "Search the chats of all hosts (the default).")
    var allHosts = false

    @Option(help: "Only chats of this project, by name, path or id prefix.")
    var project: String?

    @Option(
        help: ArgumentHelp(
            "Only messages newer than this: an age such as 12h, 30d or 2w, or a date such as 2026-05-31.",
            valueName: "age"
        ),
        transform: SinceTime.init(commandLine:)
    )
    var since: SinceTime?

    @Option(help: "Only messages with this role: user, assistant or another that the host uses.")
    var role: String?

    @Option(help: ArgumentHelp("Show at most N matches. Default: 50.", valueName: "n"))
    var limit = 50

    @OptionGroup var options: OutputOptions

    /// A match in JSON.
    struct Row: Encodable {
        /// `message`, `tool` or `chat` (its title).
        var kind: String
        var hostId: String
        var hostName: String
        var projectId: String
        var projectName: String?
        var chatId: String
        var chatTitle: String
        var messageId: String?
        var role: String?
        /// The part of the text around the match.
        var excerpt: String
        /// The start and the end of each match in the excerpt, in Unicode scalars.
        var matches: [[Int]]
        var createdAt: Date?

        init(_ hit: SearchHit) {
            kind = hit.kind.rawValue
            (hostId, hostName) = (hit.host.id, hit.host.name)
            (projectId, projectName) = (hit.projectID, hit.projectName)
            (chatId, chatTitle) = (hit.chatID, hit.chatTitle)
            (messageId, role, createdAt) = (hit.messageID, hit.role, hit.createdAt)
            excerpt = hit.excerpt.map(\.text).joined()
            matches = []
            var start = 0
            for piece in hit.excerpt {
                let end = start + piece.text.unicodeScalars.count
                if piece.isMatch { matches.append([start, end]) }
                start = end
            }
        }
    }

    func validate() throws {
        if text.trimmingWhitespace().isEmpty { throw ValidationError("Give a text to search for.") }
        if allHosts, host != nil { throw ValidationError("--all-hosts and --host cannot be used together.") }
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let output = options.output
        let hits = try await output.withHistory { history in
            var scope = SearchScope(project: project, since: since?.date(output.context.now()), role: role)
            scope.limit = limit
            if let host { scope.hosts = [try await history.store.host(host).id] }
            let query = SearchQuery(text)
            if query.isCut {
                output.say(
                    "Only the first \(SearchQuery.mostWords) words and \(SearchQuery.longest) characters count."
                )
            }
            let hits = try await history.store.search(query, within: scope)
            guard !hits.isEmpty else {
                let next = "read the chat first: pairtool messages CHAT --all"
                throw AppError(.nothingFound, "message.none", "no stored message matches", next: next)
            }
            return hits
        }
        let now = output.context.now()
        switch output.format {
        case .json: output.jsonLines(hits.map(Row.init))
        case .quiet: hits.forEach { output.data(TerminalText.line($0.messageID ?? $0.chatID)) }
        case .text: hits.forEach { output.data(Self.text($0, now: now, on: output)) }
        }
        if hits.count == limit { output.say("There may be more: --limit \(limit * 2)") }
    }

    private static func text(_ hit: SearchHit, now: Date, on output: Output) -> String {
        let colour = output.context.colour
        let who =
            switch hit.kind {
            case .chat: "title"
            case .tool: "tool"
            case .message: hit.role == "user" ? "you" : hit.role ?? ""
            }
        let place = [hit.projectName, hit.host.name].compactMap(\.self).joined(separator: ", ")
        let head = TerminalText.line(
            "\(hit.chatTitle.isEmpty ? hit.chatID : hit.chatTitle) (\(place)), \(who), "
                + "\(TimeText.ago(hit.createdAt, now: now)), \(hit.chatID.scalars(atMost: 8))"
        )
        // Control characters that no sanitised text has, until the lines are wrapped.
        let marks = colour ? ("\u{1}", "\u{2}") : ("[", "]")
        let excerpt = hit.excerpt.map { piece in
            let text = TerminalText.line(piece.text)
            return piece.isMatch ? marks.0 + text + marks.1 : text
        }
        var text = ""
        for scalar in output.fitted("\(head)\n  \(excerpt.joined())").unicodeScalars {
            switch scalar {
            case "\u{1}": text += "\u{1B}[1m"
            case "\u{2}": text += "\u{1B}[0m"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// The beginning of a time span: an age or a date.
struct SinceTime {
    private var age: TimeSpan?
    private var date: Date?

    /// - Throws: `ValidationError` that explains what is valid.
    init(commandLine text: String) throws {
        age = TimeSpan(age: text)
        date = try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
        guard age != nil || date != nil || CompanionTimestamp.date(from: text) != nil else {
            throw ValidationError("Give an age such as 12h, 30d or 2w, or a date such as 2026-05-31.")
        }
        date = date ?? CompanionTimestamp.date(from: text)
    }

    func date(_ now: Date) -> Date {
        age.map { now.addingTimeInterval(-$0.seconds) } ?? date ?? .distantPast
    }
}
