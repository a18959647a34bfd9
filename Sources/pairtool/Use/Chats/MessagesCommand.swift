import ArgumentParser
import CompanionClient
import CompanionWire
import FoundationEssentials

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

    @Option(help: "Show the last N messages. Default: 20.")
    var last: Int?

    @Flag(help: "Show all messages.")
    var all = false

    @OptionGroup var host: HostOptions
    @OptionGroup var options: OutputOptions

    func validate() throws {
        if let last, last < 1 { throw ValidationError("--last must be 1 or more.") }
        if last != nil, all { throw ValidationError("--last and --all cannot be used together.") }
    }

    func run() async throws {
        try await host.withSession(options) { session in
            let chat = try await session.chat(chat).chat
            let writer = MessageWriter(output: session.output)
            var count = 0
            if all {
                for try await message in try session.chats.messages(chatID: chat.id) {
                    writer.write(message)
                    count += 1
                }
            } else {
                let messages = try await session.chats.lastMessages(chatID: chat.id, count: last ?? 20)
                messages.forEach(writer.write)
                count = messages.count
            }
            if count == 0 { session.output.say("The chat is empty.") }
        }
    }
}

/// Writes messages as they are read.
struct MessageWriter {
    let output: Output

    /// A message in JSON.
    private struct Row: Encodable {
        var id: String
        var role: String
        var text: String
        var createdAt: Date?
        var interrupted: Bool?

        init(_ message: CompanionMessage) {
            id = message.id
            role = message.role.rawValue
            text = message.text
            createdAt = message.createdAt
            interrupted = message.interrupted
        }
    }

    func write(_ message: CompanionMessage) {
        switch output.format {
        case .json:
            output.json(Row(message))
        case .quiet:
            output.data(TerminalText.line(message.id))
        case .text:
            let who = message.role == .user ? "you" : message.role.rawValue
            let time = TimeText.ago(message.createdAt, now: output.context.now())
            let end = message.interrupted == true ? ", interrupted" : ""
            let head = TerminalText.line("── \(who), \(time)\(end)")
            let heading = output.context.colour ? "\u{1B}[2m\(head)\u{1B}[0m" : head
            // Only headings start in the first column, so that no line of a message can pass for one.
            let columns = output.context.columns
            output.data("\(heading)\n\(IndentedText.of(TerminalText.block(message.text), columns: columns))\n")
        }
    }
}
