/// Writes a table: as columns that fit the window or, where they do not, as records.
struct TableBlock {
    private let header: [StyledText]
    private let rows: [[StyledText]]
    private let alignments: [UInt8]
    private let extents: [(line: Int, word: Int)]

    /// Columns between two cells: a bar and a blank on both sides.
    private static let gap = 3
    /// A column with longer words may be made this narrow, and the words are broken then.
    private static let leastWidth = 16

    init(_ node: MarkdownNode, writer: RowWriter) {
        var rows: [[StyledText]] = []
        for row in node.children {
            let style = rows.isEmpty ? writer.palette.strong : .plain
            rows.append(
                row.children.map {
                    InlineText.of($0, options: writer.options, palette: writer.palette, style: style)
                }
            )
        }
        let columns = rows.map(\.count).max() ?? 0
        let alignments = node.alignments
        header = rows.first ?? []
        self.rows = Array(rows.dropFirst())
        self.alignments = (0..<columns).map { $0 < alignments.count ? alignments[$0] : 0 }
        extents = (0..<columns).map { column in
            rows.reduce((line: 1, word: 1)) { most, row in
                guard column < row.count else { return most }
                let extent = Wrapping.extent(of: row[column].bytes)
                return (max(most.line, extent.line), max(most.word, extent.word))
            }
        }
    }

    func write(_ writer: inout RowWriter) {
        guard let widths = widths(in: writer.width) else { return writeRecords(&writer) }
        write(header, widths: widths, to: &writer)
        let frame = writer.palette.frame
        writer.row { out in
            frame.begin(&out)
            for (column, width) in widths.enumerated() {
                if column > 0 { out += "─┼─".utf8 }
                for _ in 0..<width { out += "─".utf8 }
            }
            frame.end(&out)
        }
        for row in rows { write(row, widths: widths, to: &writer) }
    }

    /// The widths of the columns; nil if they do not fit.
    private func widths(in width: Int) -> [Int]? {
        let room = width - Self.gap * (extents.count - 1)
        let least = extents.map { min($0.line, $0.word, Self.leastWidth) }
        guard !extents.isEmpty, least.reduce(0, +) <= room else { return nil }
        // The widest columns are made narrower, down to a width that they share.
        func widths(_ most: Int) -> [Int] {
            zip(extents, least).map { max($1, min($0.line, most)) }
        }
        var (fits, isTooWide) = (0, room + 1)
        while isTooWide - fits > 1 {
            let middle = (fits + isTooWide) / 2
            if widths(middle).reduce(0, +) <= room { fits = middle } else { isTooWide = middle }
        }
        var result = widths(fits)
        var left = room - result.reduce(0, +)
        for column in result.indices where left > 0 && result[column] < extents[column].line {
            result[column] += 1
            left -= 1
        }
        return result
    }

    private func write(_ row: [StyledText], widths: [Int], to writer: inout RowWriter) {
        let cells = widths.indices.map { column -> (text: StyledText, rows: [Wrapping.Row]) in
            guard column < row.count else { return (StyledText(), []) }
            var rows: [Wrapping.Row] = []
            Wrapping(width: widths[column]).rows(of: row[column].bytes) { rows.append($0) }
            return (row[column], rows)
        }
        let bar = StyledText(" │ ", style: writer.palette.frame)
        for line in 0..<max(1, cells.map(\.rows.count).max() ?? 1) {
            writer.row { out in
                for (column, cell) in cells.enumerated() {
                    var cursor = 0
                    if column > 0 { bar.write(0..<bar.bytes.count, to: &out, cursor: &cursor) }
                    let part = line < cell.rows.count ? cell.rows[line] : Wrapping.Row(part: 0..<0, width: 0)
                    let blanks = max(0, widths[column] - part.width)
                    let before =
                        switch alignments[column] {
                        case UInt8(ascii: "r"): blanks
                        case UInt8(ascii: "c"): blanks / 2
                        default: 0
                        }
                    out += [UInt8](repeating: UInt8(ascii: " "), count: before)
                    cursor = 0
                    cell.text.write(part.part, to: &out, cursor: &cursor)
                    out += [UInt8](repeating: UInt8(ascii: " "), count: blanks - before)
                }
            }
        }
    }

    /// One line for each cell that says something, behind the name of its column.
    private func writeRecords(_ writer: inout RowWriter) {
        if rows.isEmpty {
            for cell in header { writer.text(cell) }
        }
        for (number, row) in rows.enumerated() {
            if number > 0 { writer.gap() }
            for (column, cell) in row.enumerated() where !cell.isEmpty {
                var name = column < header.count ? header[column] : StyledText()
                if !name.isEmpty { name.append(": ", style: writer.palette.strong) }
                name.append(cell)
                writer.text(name)
            }
        }
    }
}
