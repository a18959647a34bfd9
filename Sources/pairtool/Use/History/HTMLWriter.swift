import CompanionWire
import History

/// Writes chats as one HTML file, which loads nothing and runs nothing. Every text of others is escaped.
struct HTMLWriter: ChatWriter {
    var beginning: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Chats</title>
        <style>
        body { font: 16px/1.5 sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
        h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; color: #555; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; unicode-bidi: isolate; }
        .message { border-left: 3px solid #ccc; padding-left: 1rem; }
        @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } h2 { color: #aaa; } }
        </style>
        </head>
        <body>

        """
    }

    func begin(_ chat: HistoryChat) -> String {
        "<h1>\(Self.escaped(title(chat)))</h1>\n<p>\(Self.escaped(place(chat)))</p>\n"
    }

    func text(_ message: HistoryMessage) -> String {
        var text = "<h2>\(Self.escaped(who(message)))</h2>\n"
        text += "<div class=\"message\"><pre dir=\"auto\">\(Self.escaped(message.shownText, isBlock: true))</pre>"
        if !message.tools.isEmpty {
            let count = message.tools.count == 1 ? "1 tool" : "\(message.tools.count) tools"
            text += "\n<details><summary>\(count)</summary>\n<ul>\n"
            for tool in message.tools { text += "<li>\(Self.escaped(line(tool)))</li>\n" }
            text += "</ul>\n</details>"
        }
        return text + "</div>\n"
    }

    var ending: String { "</body>\n</html>\n" }

    /// - Parameter isBlock: Whether the text may have several lines.
    static func escaped(_ text: String, isBlock: Bool = false) -> String {
        var result = ""
        for scalar in (isBlock ? TerminalText.block(text) : TerminalText.line(text)).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
