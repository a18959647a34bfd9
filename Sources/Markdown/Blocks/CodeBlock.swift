/// Writes the lines of a code block.
struct CodeBlock {
    private var highlighter: CodeHighlighter
    /// The last line, whose memory the next one takes.
    private var text = StyledText()
    private var expanded: [UInt8] = []
    /// The name of the language.
    private let language: String

    private static let indent = 2
    private static let tab = 4

    /// - Parameter info: What stands behind the opening fence. Its first word is the language.
    init(info: some Sequence<UInt8>, palette: Palette) {
        let word = info.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.prefix {
            switch $0 {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ","): false
            default: true
            }
        }
        var name = StyledText()
        Array(word).prefix(40).withUnsafeBufferPointer { name.append(unsafe: $0, style: .plain) }
        language = String(decoding: name.bytes, as: UTF8.self)
        highlighter = CodeHighlighter(language: language, palette: palette)
    }

    /// Writes the name of the language.
    func begin(_ writer: inout RowWriter) {
        writer.codeBlocks?.append([])
        guard !language.isEmpty else { return }
        let style = writer.palette.frame + writer.palette.emphasis
        writer.text(StyledText(language, style: style), indent: Self.indent)
    }

    /// Writes a line, which has no control characters but tabs.
    ///
    /// - Parameter isContinued: Whether the line is the rest of a longer one.
    mutating func line(_ line: some Collection<UInt8>, isContinued: Bool = false, to writer: inout RowWriter) {
        writer.keepCode(line, isContinued: isContinued)
        expanded.removeAll(keepingCapacity: true)
        expanded.reserveCapacity(line.count)
        var column = 0
        for byte in line {
            if byte == UInt8(ascii: "\t") {
                let blanks = Self.tab - column % Self.tab
                for _ in 0..<blanks { expanded.append(UInt8(ascii: " ")) }
                column += blanks
            } else {
                expanded.append(byte)
                if byte & 0xC0 != 0x80 { column += 1 }
            }
        }
        text.removeAll()
        highlighter.append(expanded, to: &text)
        writer.text(text, atWords: false, indent: Self.indent)
    }
}
