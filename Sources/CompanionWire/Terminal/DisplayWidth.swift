/// How many terminal columns a text takes.
package enum DisplayWidth {
    /// Returns the columns of a text on one line. Characters outside ASCII may take none or two.
    package static func of(_ text: String) -> Int {
        // Lists of thousands of rows are mostly ASCII. There, only CR and LF together are one character.
        if text.allBytes({ $0 < 0x80 && $0 != 0x0D }) { return text.utf8.count }
        var width = 0
        for scalar in text.unicodeScalars {
            let isPlain = scalar.isASCII && scalar.value != 0x0D
            guard let columns = isPlain ? 1 : ofSimple(scalar) else { return text.reduce(0) { $0 + of($1) } }
            width += columns
        }
        return width
    }

    /// How many rows a text takes in a window of the given width.
    package static func rows(of text: String, columns: Int) -> Int {
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
    package static func cut(_ text: String, to width: Int) -> String {
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
    package static func cutWords(_ text: String, to width: Int) -> String {
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

    /// How many columns what a reader sees as one character takes.
    package static func of(_ character: Character) -> Int {
        guard character.utf8.count > 1 else { return 1 }
        // A variation selector turns a narrow symbol into an emoji.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        // Marks take no room, and some of them, such as U+0600, stand before the character that they belong to.
        for scalar in character.unicodeScalars {
            let width = of(scalar)
            if width > 0 { return width }
        }
        return 0
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.properties.isEmojiPresentation { return 2 }
        if wideBlocks.contains(where: { $0.contains(scalar.value) }) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The width of a scalar that is a character by itself, unless it is followed by one that is not; nil for one that
    /// may combine with others. It is quick where ``of(_:)-(Character)`` is not.
    package static func ofSimple(_ scalar: Unicode.Scalar) -> Int? {
        switch scalar.value {
        // ASCII, Latin, Greek, Cyrillic, punctuation, arrows, box drawing.
        case 0x20...0x7E, 0xA0...0xAC, 0xAE...0x2FF, 0x370...0x373, 0x391...0x3FF, 0x400...0x482, 0x48A...0x52F,
            0x2010...0x2027, 0x2030...0x203B, 0x2190...0x2193, 0x2500...0x259F:
            1
        // Kana, the common ideographs, Hangul syllables.
        case 0x3041...0x3096, 0x30A1...0x30FA, 0x3001...0x3003, 0x4E00...0x9FFF, 0xAC00...0xD7A3: 2
        default: nil
        }
    }

    /// The blocks whose characters are wide or full-width (Unicode Standard Annex 11), without emoji.
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1B000...0x1B2FF, 0x20000...0x3FFFD,
    ]
}
