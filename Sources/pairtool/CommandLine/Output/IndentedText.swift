/// Text whose lines stand to the right of what belongs to the tool.
enum IndentedText {
    /// Indents every line that is not empty.
    ///
    /// - Parameters:
    ///   - text: What is shown, without control characters but line feeds and tabs: see ``TerminalText/block(_:)``.
    ///   - indent: Columns. Default: 2.
    ///   - columns: How wide the window is: longer lines are broken, for a terminal would go on with them in its first
    ///     column. Nil if there is no window.
    static func of(_ text: String, indent: Int = 2, columns: Int?) -> String {
        let columns = columns.map { max($0, indent + 8) } ?? .max
        let blanks = String(repeating: " ", count: indent).unicodeScalars
        var result = String.UnicodeScalarView()
        var column = 0
        for scalar in text.unicodeScalars {
            guard scalar != "\n" else {
                result.append(scalar)
                column = 0
                continue
            }
            let width = scalar == "\t" ? 8 - column % 8 : width(of: scalar)
            if column > 0, columns - column < width {
                result.append("\n")
                column = 0
            }
            if column == 0 {
                result.append(contentsOf: blanks)
                column = indent
            }
            result.append(scalar)
            column += width
        }
        return String(result)
    }

    /// The most columns that a terminal may give to a scalar: a line that is broken too early does no harm.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        // What turns the symbol before it into an emoji makes it wider.
        case _ where scalar == "\u{FE0F}": 1
        case .nonspacingMark, .enclosingMark: 0
        default: max(1, DisplayWidth.of(String(scalar)))
        }
    }
}
