import CompanionWire

/// The commands of the interactive chat, which are typed instead of a prompt.
enum ChatWords {
    /// The column of the descriptions in ``help``.
    static let helpIndent = 16
    static let help = """
        /new [PROJECT]  begin another chat, in this project or the named one
        /chats [CHAT]   list the chats; continue one, by its number, title or id
        /history [N]    show the last N messages (20)
        /model [NAME]   show the models, or change the model
        /agent [NAME]   the same, for the agents of the host; another agent begins a new chat
        /allow [TOOL [once|always|off]]
                        list the tools; allow one for the next prompt or from now on (always), or no more
        /image [FILE]   send a picture with the next prompt: a file, or the picture in the clipboard
        /edit [TEXT]    write the next prompt in your editor (also Ctrl-X Ctrl-E)
        /retry          send the last prompt again
        /copy [N]       copy the last answer, or its code block N, to the clipboard
        /save FILE      save the chat as Markdown
        /cancel         cancel the turn that runs on the host
        /auto [MODE]    show or set auto mode; off ends it
        /help           show this list
        /quit           end the chat (also Ctrl-D)
        //TEXT          send a prompt that begins with a slash (a path such as /etc/hosts needs only one)
        @FILE           in a prompt: attach a text file of this machine, which is shown to you first
        Alt-Enter       begin another line (also \\ at the end of a line); a paste is one prompt
        Ctrl-R          search earlier prompts
        Tab             complete commands, chats, models and files
        Ctrl-C          cancel the answer at the host if it can, else stop waiting for it
        """

    static let commands = [
        "/new", "/chats", "/history", "/model", "/agent", "/allow", "/image", "/edit", "/retry", "/copy", "/save",
        "/cancel",
        "/auto", "/help", "/quit",
    ]

    /// The prompt that a line is; nil if the line is a command. A command is a slash and a word, at the beginning of the
    /// line: a path, a second slash or a space before the slash make it a prompt.
    static func prompt(of line: String) -> String? {
        let text = line.trimmingWhitespace()
        guard line.begins(with: "/") else { return text }
        if text.begins(with: "//") { return String(text.unicodeScalars.dropFirst()) }
        let word = text.utf8.dropFirst().prefix { $0 > UInt8(ascii: " ") }
        return word.contains(UInt8(ascii: "/")) ? text : nil
    }

    /// The words that may follow `/allow TOOL`.
    static let scopes = ["once", "always", "off"]
}
