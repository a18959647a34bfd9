import CompanionWire

/// How many terminal columns a text takes.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// How many rows a text takes in a window of the given width.
    static func rows(of text: String, columns: Int) -> Int {
        text.parts("\n", omittingEmpty: false)
            .reduce(0) { $0 + rows(ofLine: $1, columns: max(1, columns)) }
    }

    private static func rows(ofLine line: Substring, columns: Int) -> Int {
        var (rows, used) = (1, 0)
        for character in line {
            let width = of(character)
            used += width
            // A wide character that does not fit goes to the next row as a whole.
            if used > columns { (rows, used) = (rows + 1, width) }
        }
        return rows
    }

    /// The beginning of a text, cut to a width; `…` marks omitted text.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var result = ""
        var used = 1
        for character in text {
            used += of(character)
            guard used <= width else { break }
            result.append(character)
        }
        return result + "…"
    }

    /// The first words of a text that fit, and always the first word; `…` marks omitted words.
    static func cutWords(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        let words = text.parts(" ")
        var result = words.first.map(String.init) ?? ""
        for word in words.dropFirst() {
            let longer = result + " " + word
            guard of(longer) + 2 <= width else { break }
            result = longer
        }
        return words.count > 1 ? result + " …" : result
    }

    static func of(_ character: Character) -> Int {
        guard character.utf8.count > 1, let first = character.unicodeScalars.first else { return 1 }
        // A variation selector turns a narrow symbol into an emoji.
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        if wideBlocks.contains(where: { $0.contains(first.value) }) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The blocks whose characters are wide or full-width (Unicode Standard Annex 11), without emoji.
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1B000...0x1B2FF, 0x20000...0x3FFFD,
    ]
}
