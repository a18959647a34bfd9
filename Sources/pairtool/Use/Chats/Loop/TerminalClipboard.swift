import CompanionWire

/// The clipboard behind a terminal, also through ssh (OSC 52 of xterm's control sequences).
struct TerminalClipboard {
    /// Terminals take at most 100,000 bytes of base64.
    static let limit = 74_994

    let context: CommandContext

    /// Asks the terminal to copy a text.
    ///
    /// - Returns: What was done, for the user.
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
