import CompanionClient
import CompanionWire
import FoundationEssentials

/// A chat as a document. The text of a message is in a quotation, as in an export: no line of it is a heading.
enum ChatDocument {
    /// All messages of a chat in Markdown, oldest first.
    static func markdown(of conversation: Conversation) async throws -> String {
        var text = "# \(MarkdownWriter.escaped(conversation.title))\n"
        for try await message in try conversation.session.chats.messages(chatID: conversation.chatID) {
            let who = message.role == .user ? "You" : message.role.rawValue
            let time = message.createdAt.map { ", " + $0.formatted(Date.ISO8601FormatStyle()) } ?? ""
            let end = message.interrupted == true ? ", interrupted" : ""
            text += "\n## " + MarkdownWriter.escaped("\(who)\(time)\(end)") + "\n\n"
            text += MarkdownWriter.quoted(message.text)
        }
        return text
    }
}
