import CompanionWire

/// Indents text, or wraps it to the width of a window.
package enum IndentedText {
    /// Wraps a sentence. A command behind its last colon stays in one piece, to be copied: if it does not fit, it is on a
    /// line of its own.
    ///
    /// - Parameters:
    ///   - first: Columns before the first line.
    ///   - indent: Columns before the others.
    ///   - columns: The width of the window; nil if there is none.
    package static func advice(_ text: String, first: Int, indent: Int, columns: Int?) -> String {
        func fitted(_ text: String) -> String {
            of(text, first: first, indent: indent, columns: columns, keepsWords: true)
        }
        guard let columns, DisplayWidth.of(text) > columns - first,
            let parts = text.wholeMatch(of: /(.+: )((?:pairtool|sudo|ip|timedatectl) .+)/)?.output
        else { return fitted(text) }
        return fitted(parts.1.trimmingWhitespace()) + "\n" + of(String(parts.2), indent: indent, columns: nil)
    }

    /// Indents every line that is not empty.
    ///
    /// - Parameters:
    ///   - text: The text, without control characters except line feeds and tabs: see ``TerminalText/block(_:)``.
    ///   - first: Columns before each line. Default: same as `indent`.
    ///   - indent: Columns before the continuation of a wrapped line. Default: 2.
    ///   - columns: The width of the window. Longer lines are wrapped, between words if possible: a terminal would wrap
    ///     them anywhere and without an indent. Nil if there is no window.
    ///   - keepsWords: Whether a word that is wider than the window, such as a fingerprint, stays in one piece, so that
    ///     it can be copied. Default: false.
    package static func of(
        _ text: String,
        first: Int? = nil,
        indent: Int = 2,
        columns: Int?,
        keepsWords: Bool = false
    ) -> String {
        let columns = columns.map { max($0, indent + 8) } ?? .max
        let blanks = [Unicode.Scalar](repeating: " ", count: indent)
        var result: [Unicode.Scalar] = []
        var column = 0
        var isBroken = false
        // The last blank after a word of the line, and whether there was a word.
        var blank: Int?
        var hasWord = false
        func begin(broken: Bool) {
            (column, isBroken, blank, hasWord) = (0, broken, nil, false)
        }
        for scalar in text.unicodeScalars {
            guard scalar != "\n" else {
                result.append(scalar)
                begin(broken: false)
                continue
            }
            var width: Int { scalar == "\t" ? 8 - column % 8 : Self.width(of: scalar) }
            if column > 0, columns - column < width, scalar != " ", let place = blank {
                result[place] = "\n"
                let word = result[(place + 1)...]
                result.insert(contentsOf: blanks, at: place + 1)
                begin(broken: true)
                (column, hasWord) = (word.reduce(indent) { $0 + Self.width(of: $1) }, !word.isEmpty)
            }
            if column > 0, columns - column < width, !keepsWords || scalar == " " {
                result.append("\n")
                begin(broken: true)
                if scalar == " " { continue }
            }
            if column == 0 {
                column = isBroken ? indent : first ?? indent
                result += [Unicode.Scalar](repeating: " ", count: column)
            }
            result.append(scalar)
            column += width
            if scalar != " " { hasWord = true } else if hasWord { blank = result.count - 1 }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: result)
        return String(text)
    }

    /// The most columns that a terminal may give to a scalar. Too large a width only wraps a line early, which does no
    /// harm.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        // A variation selector turns the symbol before it into an emoji, which is wider.
        case _ where scalar == "\u{FE0F}": 1
        case .nonspacingMark, .enclosingMark: 0
        default: max(1, DisplayWidth.of(String(scalar)))
        }
    }
}
