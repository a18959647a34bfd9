/// Gives the lines of a code block their colours, one after another.
struct CodeHighlighter {
    private let language: CodeLanguage?
    private let palette: Palette
    /// The comment or the text that the line before has left open.
    private var open: (quote: CodeLanguage.Quote, style: TextStyle)?
    /// Whether the line before has left a tag open.
    private var isInTag = false

    /// - Parameter language: The name of the language, as the block's info string has it.
    init(language: String, palette: Palette) {
        self.language = CodeLanguage.named(language)
        self.palette = palette
    }

    /// - Parameter line: A line without its end, which has no control characters.
    mutating func append(_ line: [UInt8], to text: inout StyledText) {
        guard let language else { return text.append(line, style: .code) }
        if language.kind == .diff { return text.append(line, style: diffStyle(line)) }
        var place = 0
        while place < line.count {
            let (end, style) = token(line, at: place, in: language)
            text.append(line[place..<end], style: style)
            place = end
        }
        // A text that has to end with its line has ended.
        if open?.quote.isLong == false { open = nil }
    }

    private func diffStyle(_ line: [UInt8]) -> TextStyle {
        if line.starts(with: "+++".utf8) || line.starts(with: "---".utf8) { return .code + palette.strong }
        return switch line.first {
        case UInt8(ascii: "+"): palette.added
        case UInt8(ascii: "-"): palette.removed
        case UInt8(ascii: "@"): palette.place
        default: .code
        }
    }

    private mutating func token(_ line: [UInt8], at place: Int, in language: CodeLanguage) -> (Int, TextStyle) {
        if let (quote, style) = open {
            guard let end = Self.end(of: quote, in: line, from: place) else { return (line.count, style) }
            open = nil
            return (end, style)
        }
        let byte = line[place]
        if Self.isWordByte(byte) { return word(line, at: place, in: language) }
        if byte == UInt8(ascii: " ") {
            var end = place + 1
            while end < line.count, line[end] == byte { end += 1 }
            return (end, .code)
        }
        // Most signs begin nothing.
        guard language.canBegin(byte) else { return (place + 1, .code) }
        let rest = line[place...]
        if let comment = language.blockComment, rest.starts(with: comment.begin) {
            return begin(comment, style: palette.comment, in: line, at: place)
        }
        for comment in language.lineComments where rest.starts(with: comment) {
            // In a shell, `$#` and `a#b` are no comments.
            let isInWord = comment.count == 1 && place > 0 && line[place - 1] != UInt8(ascii: " ")
            if !isInWord { return (line.count, palette.comment) }
        }
        if language.kind == .markup {
            if byte == UInt8(ascii: "<") { isInTag = true }
            if byte == UInt8(ascii: ">") { isInTag = false }
            guard isInTag else { return (place + 1, .code) }
        }
        for quote in language.quotes where rest.starts(with: quote.begin) {
            return begin(quote, style: palette.string, in: line, at: place)
        }
        return (place + 1, .code)
    }

    private mutating func begin(
        _ quote: CodeLanguage.Quote,
        style: TextStyle,
        in line: [UInt8],
        at place: Int
    ) -> (Int, TextStyle) {
        if let end = Self.end(of: quote, in: line, from: place + quote.begin.count) { return (end, style) }
        open = (quote, style)
        return (line.count, style)
    }

    private func word(_ line: [UInt8], at place: Int, in language: CodeLanguage) -> (Int, TextStyle) {
        var end = place + 1
        let isNumber = Self.isDigit(line[place])
        while end < line.count, Self.isWordByte(line[end]) || isNumber && Self.isFraction(line, at: end) { end += 1 }
        if isNumber { return (end, palette.number) }
        if language.kind == .markup {
            let isName =
                isInTag && place > 0 && (line[place - 1] == UInt8(ascii: "<") || line[place - 1] == UInt8(ascii: "/"))
            return (end, isName ? palette.keyword : .code)
        }
        return (end, language.isKeyword(line[place..<end]) ? palette.keyword : .code)
    }

    private static func end(of quote: CodeLanguage.Quote, in line: [UInt8], from start: Int) -> Int? {
        var place = start
        while place < line.count {
            if quote.hasEscapes, line[place] == UInt8(ascii: "\\") {
                place += 2
            } else if line[place] == quote.end[0], line[place...].starts(with: quote.end) {
                return place + quote.end.count
            } else {
                place += 1
            }
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isFraction(_ line: [UInt8], at place: Int) -> Bool {
        line[place] == UInt8(ascii: ".") && place + 1 < line.count && isDigit(line[place + 1])
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }
}
