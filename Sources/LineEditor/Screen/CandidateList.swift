/// The candidates of a completion, in columns below the line.
enum CandidateList {
    private static let gap = 2

    /// - Parameter limit: The most rows.
    static func rows(_ candidates: [String], columns: Int, limit: Int, rule: Glyph.Rule) -> [ScreenRow] {
        guard limit > 0, !candidates.isEmpty else { return [] }
        let shown = candidates.map { $0.map { $0 == "\n" || $0 == "\t" ? Glyph(" ", width: 1) : rule($0) } }
        let widths = shown.map { $0.reduce(0) { $0 + $1.width } }
        let columnWidth = min(columns, (widths.max() ?? 0) + gap)
        let perRow = max(1, (columns + gap) / max(1, columnWidth))
        let needed = (shown.count + perRow - 1) / perRow
        let count = min(needed, limit)
        var rows = (0..<count).map { row in
            var line = ScreenRow()
            for column in 0..<perRow {
                let index = column * needed + row
                guard index < shown.count else { break }
                while line.width < column * columnWidth { line.append(Glyph(" ", width: 1)) }
                for glyph in shown[index] where line.width + glyph.width <= columns { line.append(glyph) }
            }
            return line
        }
        if needed > limit {
            // Filled column by column, so what is left out is everywhere.
            var last = ScreenRow()
            for character in "… \(candidates.count) in all".prefix(columns) {
                last.append(Glyph(String(character), width: 1))
            }
            rows[count - 1] = last
        }
        return rows
    }
}
