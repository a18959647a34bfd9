import CompanionWire

/// Writes chats as Markdown (CommonMark). The text of a message is in a quotation, which it cannot leave: only our own
/// headings are outside of quotations.
package struct MarkdownWriter: ChatWriter {
    package init() {}

    package func begin(_ chat: HistoryChat) -> String {
        "# \(Self.escaped(title(chat)))\n\n\(Self.escaped(place(chat)))\n\n"
    }

    package func text(_ message: HistoryMessage) -> String {
        var text = "## \(Self.escaped(who(message)))\n\n\(Self.quoted(message.shownText))\n"
        if !message.tools.isEmpty {
            let count = message.tools.count == 1 ? "1 tool" : "\(message.tools.count) tools"
            text += "<details><summary>\(count)</summary>\n\n"
            for tool in message.tools { text += "- \(Self.escaped(line(tool)))\n" }
            text += "\n</details>\n\n"
        }
        return text
    }

    /// One line in which nothing is markup.
    package static func escaped(_ text: String) -> String {
        var result = ""
        let scalars = Array(TerminalText.line(text).unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let before = index > 0 ? scalars[index - 1] : " "
            if scalar.isASCII, "!\"#$%&'()*+-./:;<=>?@[\\]^_`{|}~".unicodeScalars.contains(scalar),
                !isPlain(scalar, behind: before)
            {
                result += "\\"
            }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Whether a sign is no markup where it stands: within a word, a date or a time.
    private static func isPlain(_ scalar: Unicode.Scalar, behind before: Unicode.Scalar) -> Bool {
        let isDigit = ("0"..."9").contains(before)
        let isWord = isDigit || ("a"..."z").contains(before) || ("A"..."Z").contains(before)
        return scalar == "-" && isWord || scalar == ":" && isDigit || scalar == "," || scalar == "'" && isWord
    }

    /// A quotation of Markdown. HTML in it is escaped, except in fenced code, where it is text anyway: HTML could end
    /// the quotation. Fences begin in the first column, so that they are fences to every reader: there they end lists
    /// and everything else that they may be in.
    package static func quoted(_ text: String) -> String {
        var result = ""
        var open: Fence?
        for line in TerminalText.block(text).parts("\n", omittingEmpty: false) {
            let line = untabbed(line)
            if let fence = open, fence.isClosed(by: line) {
                result += "> \(fence.text)\n"
                open = nil
            } else if open != nil {
                result += "> \(line)\n"
            } else if let fence = Fence(opening: line) {
                result += "> \(fence.text)\(fence.info)\n"
                open = fence
            } else {
                result += "> \(withoutHTML(line))\n"
            }
        }
        if let open { result += "> \(open.text)\n" }
        return result
    }

    /// Tabs before the text of a line count to positions that the quotation moves.
    private static func untabbed(_ line: Substring) -> String {
        let blanks = line.unicodeScalars.prefix { $0 == " " || $0 == "\t" }
        return blanks.map { $0 == "\t" ? "    " : " " }.joined()
            + line.unicodeScalars.dropFirst(blanks.count).map(String.init).joined()
    }

    private static func withoutHTML(_ line: String) -> String {
        line.unicodeScalars.map { $0 == "<" ? "&lt;" : String($0) }.joined()
    }

    /// The beginning of fenced code (CommonMark 0.31, 4.5).
    private struct Fence {
        var text: String
        var info: String

        init?(opening line: String) {
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let rest = line.unicodeScalars.dropFirst(indent)
            guard indent <= 3, let mark = rest.first, "`~".unicodeScalars.contains(mark) else { return nil }
            let marks = rest.prefix { $0 == mark }
            let info = String(String.UnicodeScalarView(rest.dropFirst(marks.count)))
            guard marks.count >= 3, mark.value == 126 || !info.has("`") else { return nil }
            text = String(String.UnicodeScalarView(marks))
            // What is behind the fence names a language.
            self.info = String(
                info.unicodeScalars.filter { $0.properties.isAlphabetic || $0.value > 47 && $0.value < 58 }
            )
        }

        func isClosed(by line: String) -> Bool {
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let marks = line.trimmingWhitespace()
            return indent <= 3 && marks.utf8.count >= text.utf8.count
                && marks.unicodeScalars.allSatisfy { $0 == text.unicodeScalars.first }
        }
    }
}
