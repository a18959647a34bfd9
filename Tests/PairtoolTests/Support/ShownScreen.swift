/// What a terminal of a size shows of what was written to it.
struct ShownScreen {
    private struct Row {
        var text: [Unicode.Scalar] = []
        /// Whether it has black on white, as drawings have.
        var isDrawn = false
    }

    /// The rows that are in the window, from the top.
    let visible: [String]
    /// The rows of drawings in the window, and all that were written.
    let drawnRows: (visible: Int, all: Int)

    init(_ written: String, columns: Int, rows: Int) {
        var (lines, column) = ([Row()], 0)
        var scalars = written.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            switch scalar {
            case "\r": column = 0
            case "\n": (lines, column) = (lines + [Row()], 0)
            case "\u{1B}":
                var sequence = ""
                while let next = scalars.next() {
                    sequence.unicodeScalars.append(next)
                    if next.properties.isAlphabetic { break }
                }
                if sequence == "[K" { lines[lines.count - 1].text = Array(lines[lines.count - 1].text[..<column]) }
                if sequence.hasSuffix("48;5;231m") { lines[lines.count - 1].isDrawn = true }
            default:
                if column == columns { (lines, column) = (lines + [Row()], 0) }
                lines[lines.count - 1].text = lines[lines.count - 1].text.prefix(column) + [scalar]
                column += 1
            }
        }
        let window = lines.suffix(rows)
        visible = window.map { row in
            row.text.reduce(into: "") { $0.unicodeScalars.append($1) }
        }
        drawnRows = (window.count(where: \.isDrawn), lines.count(where: \.isDrawn))
    }
}
