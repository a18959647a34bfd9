/// The title of a chat that begins with a prompt.
enum ChatTitle {
    /// White space folded, and cut to 48 characters.
    static func of(_ prompt: String) -> String {
        let folded = prompt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return folded.count <= 48 ? folded : folded.prefix(45) + "..."
    }
}
