import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Terminal

/// The clipboard behind a terminal, also through ssh (OSC 52 of xterm's control sequences).
struct TerminalClipboard {
    /// Terminals take at most 100,000 bytes of base64.
    static let limit = 74_994

    let context: TerminalContext

    /// Asks the terminal to copy a text.
    ///
    /// - Returns: The outcome, as a text for the user.
    func copy(_ text: String) -> String {
        let size = text.utf8.count
        guard context.stderrIsTerminal, context.environment["TERM"] != "dumb" else {
            return "There is no terminal to copy to. To save the chat: /save FILE"
        }
        guard size <= Self.limit else {
            return "The text has \(size) bytes; terminals take at most \(Self.limit). To save the chat: /save FILE"
        }
        context.stderr.write("\u{1B}]52;c;\(Base64.encode(text.utf8))\u{7}")
        return "Asked the terminal to copy \(size) bytes. Some terminals ignore this."
    }
}

/// A chat as a document. The text of a message is in a quotation, as in an export: no line of it is a heading.
enum ChatDocument {
    /// All messages of a chat in Markdown, oldest first.
    static func markdown(of conversation: Conversation) async throws -> String {
        var text = "# \(MarkdownWriter.escaped(conversation.title))\n"
        for try await message in try conversation.session.chats.messages(chatID: conversation.chatID) {
            let who = message.role == .user ? "You" : message.role.rawValue
            let time = message.createdAt.map { ", " + LocalTime.text($0) } ?? ""
            let end = message.interrupted == true ? ", interrupted" : ""
            text += "\n## " + MarkdownWriter.escaped("\(who)\(time)\(end)") + "\n\n"
            text += MarkdownWriter.quoted(message.text)
        }
        return text
    }
}

extension TerminalContext {
    /// Shows a file that is to go with a prompt: its name, its size and its first lines.
    func show(_ mention: PromptAttachments.Mention, content: String) {
        let columns = windowSize()?.columns ?? 80
        let lines = content.parts("\n", omittingEmpty: false)
        let count = content.ends(with: "\n") ? lines.count - 1 : lines.count
        let size = "\(content.utf8.count) bytes, \(count) \(count == 1 ? "line" : "lines")"
        var text = "\(TerminalText.line(mention.path)): \(size)\n"
        for line in lines.prefix(min(count, 5)) {
            text += "  │ \(DisplayWidth.cut(TerminalText.line(String(line)), to: max(1, columns - 4)))\n"
        }
        stderr.write(count > 5 ? text + "  │ …\n" : text)
    }
}
