/// Makes text from peers safe to show: removes control characters, escape sequences, bidirectional overrides, and what
/// is not seen and hides a difference.
package enum TerminalText {
    /// Sanitises text for one line: line ends and tabs become spaces.
    package static func line(_ text: String) -> String {
        sanitize(text, keepsLines: false)
    }

    /// Sanitises text of several lines: line feeds and tabs stay, and the separators of lines and paragraphs become
    /// line feeds.
    package static func block(_ text: String) -> String {
        sanitize(text, keepsLines: true)
    }

    private static func sanitize(_ text: String, keepsLines: Bool) -> String {
        // Most text is clean: check first, to avoid building another string.
        guard isUnsafe(text) else { return text }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            // What stands in the place of a removed character joins nothing.
            defer { previous = result.last }
            switch scalar {
            case "\n", "\t": result.append(keepsLines ? scalar : " ")
            case "\u{2028}", "\u{2029}": result.append(keepsLines ? "\n" : " ")
            case "\r": if !keepsLines { result.append(" ") }
            case "\u{7F}": result.append("\u{2421}")
            case _ where scalar.value < 0x20:
                // Unicode's visible symbol for the control character, such as ␛ for ESC.
                result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case _ where isUnsafe(scalar, after: previous): result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether a character controls a terminal or the direction of text: C0, C1, bidirectional controls, line
    /// separators, tags; or takes no room, and hides differences between names: soft hyphens, fillers of Hangul.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0xAD, 0x034F, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E, 0x3164, 0xFFA0: true
        case 0x061C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0x1D173...0x1D17A, 0xE0000...0xE007F: true
        default: false
        }
    }

    /// Whether a text contains an unsafe character.
    package static func isUnsafe(_ text: String) -> Bool {
        // Without decoding characters, for lists of thousands of rows: what is printable in ASCII is safe.
        if text.allBytes({ (0x20..<0x7F).contains($0) }) { return false }
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar, after: previous) { return true }
            previous = scalar
        }
        return false
    }

    /// Joiners (U+200C, U+200D) are seen only where they change how their neighbours look: in emoji, and in scripts
    /// whose letters are joined, from Arabic to Myanmar, and Khmer and Mongolian (compare RFC 5892, appendix A).
    private static func isUnsafe(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        guard scalar.value == 0x200C || scalar.value == 0x200D else { return isUnsafe(scalar) }
        guard let previous, !previous.isASCII else { return true }
        let isJoined = (0x0600...0x109F).contains(previous.value) || (0x1780...0x18AF).contains(previous.value)
        return !isJoined && !previous.properties.isEmoji && previous.value != 0xFE0F
            && previous.properties.canonicalCombiningClass != .virama
    }

    /// Writes unsafe characters in JSON text as escapes. They occur only inside strings, so the meaning stays the same.
    package static func json(_ json: String) -> String {
        guard isUnsafe(json) else { return json }
        var result = ""
        var previous: Unicode.Scalar?
        for scalar in json.unicodeScalars {
            defer { previous = result.unicodeScalars.last }
            if isUnsafe(scalar, after: previous) {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
