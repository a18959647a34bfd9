import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search the conversations that were pulled from a Lumi host, newest first.",
        discussion: """
            Examples:
              pairtool search "water pump"
              pairtool search pump --limit 5 --json
            """
    )

    @Argument(help: "The text, in upper or lower case.")
    var text: String

    @Option(help: "Show at most N messages. Default: 50.")
    var limit = 50

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    /// A message in JSON.
    struct Row: Encodable {
        var chatId: String
        var chatTitle: String
        var messageId: String
        var role: String
        /// The part of the message around the text.
        var excerpt: String
        var createdAt: Date?
    }

    func validate() throws {
        if text.trimmingWhitespace().isEmpty { throw ValidationError("Give a text to search for.") }
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let pulled = try host.pulledHost(options.output)
        let conversations = try pulled.store.conversations()
        if conversations.isEmpty { _ = try pulled.pulled(try pulled.store.loadConversations()) }
        let rows = Self.find(text, in: conversations)
        guard !rows.isEmpty else {
            throw CommandError(.nothingFound, "message.none", "no message contains that text", next: "pairtool chats")
        }
        let now = pulled.output.context.now()
        pulled.output.list(
            Array(rows.prefix(limit)),
            columns: [
                TableColumn("CHAT", shrinks: true) { $0.chatTitle },
                TableColumn("WHO", rank: 2) { $0.role == "user" ? "you" : $0.role },
                TableColumn("WHEN", rank: 3) { TimeText.ago($0.createdAt, now: now) },
                TableColumn("TEXT", shrinks: true, rank: 0) { $0.excerpt },
                TableColumn("ID", rank: 0) { String($0.chatId.prefix(8)) },
            ],
            id: \.messageId
        )
        if rows.count > limit {
            pulled.output.say("\(rows.count - limit) more messages; show them with --limit \(rows.count)")
        }
    }

    static func find(_ text: String, in conversations: [LumiConversation]) -> [Row] {
        conversations.flatMap { conversation in
            conversation.messages.reversed().compactMap { message in
                guard let excerpt = excerpt(of: message.content, around: text) else { return nil }
                return Row(
                    chatId: LumiStore.id(conversation.id),
                    chatTitle: conversation.displayTitle,
                    messageId: LumiStore.id(message.id),
                    role: message.role,
                    excerpt: excerpt,
                    createdAt: message.timestamp
                )
            }
        }
    }

    /// The text with its surroundings, on one line; nil if the content does not contain it.
    static func excerpt(of content: String, around text: String) -> String? {
        let wanted = Array(text.lowercased())
        let characters = Array(content)
        // Lowercases each Character on its own: a lowercase form can be longer, which would shift the positions.
        let lowered = characters.map { $0.lowercased() }
        let first = String(wanted[0])
        for start in characters.indices where lowered[start].begins(with: first) {
            var joined = ""
            var end = start
            while end < characters.count, joined.count < wanted.count {
                joined += lowered[end]
                end += 1
            }
            guard joined.begins(with: String(wanted)) else { continue }
            let (from, to) = (max(0, start - 30), min(characters.count, end + 60))
            let part = String(characters[from..<to]).split(whereSeparator: \.isNewline).joined(separator: " ")
            return (from > 0 ? "…" : "") + part + (to < characters.count ? "…" : "")
        }
        return nil
    }
}
