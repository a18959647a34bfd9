/// A column of a table.
struct TableColumn<Item> {
    var title: String
    /// Whether the column may be cut on a narrow terminal.
    var shrinks: Bool
    var value: (Item) -> String

    init(_ title: String, shrinks: Bool = false, _ value: @escaping (Item) -> String) {
        self.title = title
        self.shrinks = shrinks
        self.value = value
    }
}

/// Draws aligned columns under a line of titles.
enum Table {
    /// - Parameters:
    ///   - width: The columns of the terminal; nil leaves lines as long as they are.
    ///   - colour: Whether the titles are dimmed.
    static func render<Item>(_ items: [Item], columns: [TableColumn<Item>], width: Int?, colour: Bool) -> String {
        let rows = items.map { item in columns.map { TerminalText.line($0.value(item)) } }
        var widths = columns.indices.map { index in
            ([columns[index].title] + rows.map { $0[index] }).map(DisplayWidth.of).max() ?? 0
        }
        if let width { shrink(&widths, columns: columns.map(\.shrinks), to: width) }
        let titles = line(columns.map(\.title), widths)
        return ([colour ? "\u{1B}[2m\(titles)\u{1B}[0m" : titles] + rows.map { line($0, widths) })
            .map { $0 + "\n" }.joined()
    }

    private static let gap = 2

    private static func shrink(_ widths: inout [Int], columns: [Bool], to width: Int) {
        var excess = widths.reduce(0, +) + gap * (widths.count - 1) - width
        while excess > 0 {
            let candidates = widths.indices.filter { columns[$0] && widths[$0] > 8 }
            // On a very narrow terminal every column gives.
            let last = widths.indices.filter { widths[$0] > 4 }
            let pool = candidates.isEmpty ? last : candidates
            guard let widest = pool.max(by: { widths[$0] < widths[$1] }) else { return }
            widths[widest] -= 1
            excess -= 1
        }
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let cut = DisplayWidth.cut(cell, to: widths[index])
            text += cut
            guard index < cells.count - 1 else { break }
            text += String(repeating: " ", count: widths[index] - DisplayWidth.of(cut) + gap)
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}
