import CompanionClient
import CompanionWire
import FoundationEssentials

/// A chat as a document.
enum ChatDocument {
    /// All messages of a chat in Markdown, oldest first.
    static func markdown(of conversation: Conversation) async throws -> String {
        var text = "# \(TerminalText.line(conversation.title))\n"
        for try await message in try conversation.session.chats.messages(chatID: conversation.chatID) {
            let who = message.role == .user ? "You" : message.role.rawValue
            let time = message.createdAt.map { ", " + $0.formatted(Date.ISO8601FormatStyle()) } ?? ""
            let end = message.interrupted == true ? ", interrupted" : ""
            text += "\n## " + TerminalText.line("\(who)\(time)\(end)") + "\n\n"
            text += TerminalText.block(message.text)
            if !text.ends(with: "\n") { text += "\n" }
        }
        return text
    }
}

/// The code blocks of a text in Markdown.
enum CodeBlocks {
    /// The content of each fenced block (CommonMark, section 4.5), without its fences. A block that is not closed ends
    /// with the text.
    static func of(_ text: String) -> [String] {
        var blocks: [String] = []
        var (fence, indent, lines): (Substring?, Int, [Substring]) = (nil, 0, [])
        for line in text.parts("\n", omittingEmpty: false) {
            let blanks = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let rest = line.dropFirst(blanks)
            let mark = rest.utf8.first ?? 0
            let run = rest.prefix { $0.utf8.elementsEqual([mark]) }
            let isFence =
                blanks <= 3 && run.utf8.count >= 3 && (mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~"))
            if let open = fence {
                let closes =
                    isFence && run.utf8.first == open.utf8.first && run.utf8.count >= open.utf8.count
                    && rest.dropFirst(run.count).allSatisfy(\.isWhitespace)
                if closes {
                    blocks.append(lines.joined(separator: "\n"))
                    fence = nil
                } else {
                    lines.append(line.dropFirst(min(blanks, indent)))
                }
            } else if isFence, mark == UInt8(ascii: "~") || !rest.dropFirst(run.count).has("`") {
                (fence, indent, lines) = (run, blanks, [])
            }
        }
        if fence != nil { blocks.append(lines.joined(separator: "\n")) }
        return blocks
    }
}
