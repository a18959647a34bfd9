import ArgumentParser
import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import Markdown
import NIOConcurrencyHelpers
import Terminal

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "Show the messages of a chat, oldest first.",
        discussion: """
            Examples:
              pairtool messages "show beds"
              pairtool messages "show beds" --last 5
              pairtool messages ee5f --all --json
            """
    )

    @Argument(
        help: "The chat, by title or id prefix.",
        completion: .custom { words, _, _ in await Completions.chats(words) }
    )
    var chat: String

    @Option(help: ArgumentHelp("Show the last N messages. Default: 20.", valueName: "n"))
    var last: Int?

    @Flag(help: "Show all messages.")
    var all = false

    @OptionGroup var pager: PagerOptions

    @OptionGroup var rendering: RenderingOptions
    @OptionGroup var known: KnownOptions
    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let last, last < 1 { throw ValidationError("--last must be 1 or more.") }
        if last != nil, all { throw ValidationError("--last and --all cannot be used together.") }
    }

    func run() async throws {
        var output = options.output
        output.isPlain = rendering.plain
        let hasBegun = NIOLockedValueBox(false)
        _ = try await host.selector.read(
            known.mode,
            in: output.environment(),
            hasBegun: { hasBegun.withLockedValue(\.self) }
        ) { session in
            let chat = try await session.chat(chat).chat
            let chats = try session.chats
            let count = try await Pager.with(output, isWanted: !pager.avoidsPager) { output, pager in
                func begun() -> MessageWriter {
                    hasBegun.withLockedValue { $0 = true }
                    let writer = MessageWriter(output: output, mode: chat.mode, source: session.source)
                    writer.begin()
                    return writer
                }
                if !all {
                    let messages = try await chats.lastMessages(chatID: chat.id, count: last ?? 20)
                    let writer = begun()
                    messages.forEach(writer.write)
                    return messages.count
                }
                var writer: MessageWriter?
                var count = 0
                for try await message in chats.messages(chatID: chat.id) {
                    writer = writer ?? begun()
                    writer?.write(message)
                    count += 1
                    guard try await pager?.wantsMore() ?? true else { break }
                }
                return count
            }
            if count == 0 { output.say("The chat is empty.") }
            if let unread = try await session.stored?.unreadCount(chatID: chat.id), unread > 0 {
                let messages = unread == 1 ? "1 message was" : "\(unread) messages were"
                output.say("\(messages) never read on this machine: the chat has more than this.")
            }
        }
    }
}

/// Writes messages as they are read.
struct MessageWriter {
    let output: Output
    /// Of the chat's agent now.
    var mode: AgentMode?
    /// The source of the messages. Default: the host.
    var source = AnswerSource.host

    /// A message in JSON.
    private struct Row: Encodable {
        var id: String
        var role: String
        var text: String
        var createdAt: Date?
        var interrupted: Bool?
        /// Of the chat's agent now.
        var chatMode: AgentMode?

        init(_ message: CompanionMessage, chatMode: AgentMode?) {
            self.chatMode = chatMode
            id = message.id
            role = message.role.rawValue
            text = message.text
            createdAt = message.createdAt
            interrupted = message.interrupted
        }
    }

    /// Tells people the mode, where it is known.
    func begin() {
        guard output.format == .text, let mode else { return }
        output.data(output.fitted(output.faint(mode.text)) + "\n")
    }

    func write(_ message: CompanionMessage) {
        switch output.format {
        case .json:
            output.json(Row(message, chatMode: mode), from: source)
        case .quiet:
            output.data(TerminalText.line(message.id))
        case .text:
            let who = message.role == .user ? "you" : message.role.rawValue
            let time = TimeText.ago(message.createdAt, now: output.context.now())
            let end = message.interrupted == true ? ", interrupted" : ""
            let heading = output.faint("── \(who), \(time)\(end)")
            output.data("\(heading)\n\(body(of: message))\n")
        }
    }

    /// The text of a message. Only headings start in the first column, so that no line of a message can pass for one.
    private func body(of message: CompanionMessage) -> String {
        // What the user has typed is shown as it was typed.
        if var markdown = output.markdown, message.role != .user {
            markdown.columns = max(8, markdown.columns - 2)
            var indented: [UInt8] = []
            for row in MarkdownStream.rows(of: message.text, with: markdown).split(
                separator: UInt8(ascii: "\n"),
                omittingEmptySubsequences: false
            ).dropLast() {
                if !row.isEmpty { indented += "  ".utf8 }
                indented += row
                indented.append(UInt8(ascii: "\n"))
            }
            return String(decoding: indented.dropLast(), as: UTF8.self)
        }
        return IndentedText.of(TerminalText.block(message.text), columns: output.context.columns)
    }
}
