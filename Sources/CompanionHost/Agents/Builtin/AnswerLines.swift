import CompanionWire

/// Writes an answer line by line: text, and lines of files and programs, which Markdown gets as blocks of code.
///
/// Without a block, a reader joins the lines to a paragraph, and takes their content for markup.
struct AnswerLines {
    /// Whether the answer is Markdown. A model gets the lines as they are.
    let isMarkdown: Bool
    private var isInCode = false

    private static let fence = "```\n"

    init(isMarkdown: Bool) {
        self.isMarkdown = isMarkdown
    }

    /// A line of text. It ends the block of code before it.
    mutating func text(_ line: String) -> String {
        endOfCode() + Self.single(line) + "\n"
    }

    /// A line of a block of code, which begins with it where none is open. A line of backquotes would end the block:
    /// for paths there is ``path(_:)``.
    mutating func code(_ line: String) -> String {
        let begin = isMarkdown && !isInCode ? Self.fence : ""
        isInCode = isMarkdown
        return begin + Self.single(line) + "\n"
    }

    /// The end of the open block of code; empty where none is open.
    mutating func endOfCode() -> String {
        defer { isInCode = false }
        return isInCode ? Self.fence : ""
    }

    /// A path that begins a line of code, and is no fence there.
    static func path(_ names: [String]) -> String {
        let path = names.joined(separator: "/")
        return path.utf8.first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "`") ? "./" + path : path
    }

    /// Makes one line of a text: characters that would end the line become blanks.
    private static func single(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: endsLine) else { return line }
        var single = String.UnicodeScalarView()
        for scalar in line.unicodeScalars { single.append(endsLine(scalar) ? " " : scalar) }
        return String(single)
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
