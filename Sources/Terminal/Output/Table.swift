import CompanionWire

/// A column of a table.
package struct TableColumn<Item> {
    /// How a cell is shortened on a narrow terminal.
    package enum Shrinking {
        /// Not at all.
        case none
        /// The end of the text is cut; the first 12 columns stay.
        case text
        /// Whole words are cut from the end; the first one stays. For lists of addresses.
        case words
    }

    package var title: String
    package var shrinking: Shrinking
    /// If a terminal is too narrow for all columns, columns of low rank are kept first. Rank 0 is always shown.
    package var rank: Int
    package var value: (Item) -> String
    /// Whether the texts are ids, of which only the beginnings are shown.
    fileprivate var isID = false

    /// A column of ids: of each as much as tells it from the others, and 8 scalars at least.
    package static func id(_ title: String = "ID", rank: Int = 0, _ value: @escaping (Item) -> String) -> Self {
        var column = TableColumn(title, rank: rank, value)
        column.isID = true
        return column
    }

    /// The texts of the rows.
    fileprivate func texts(_ items: [Item]) -> [String] {
        let texts = items.map { TerminalText.line(value($0)) }
        return isID ? texts.shortIDs : texts
    }

    /// - Parameters:
    ///   - title: The word in the title line.
    ///   - value: The text of a row, sanitised when it is drawn.
    package init(_ title: String, _ shrinking: Shrinking = .none, rank: Int = 1, _ value: @escaping (Item) -> String) {
        self.title = title
        self.shrinking = shrinking
        self.rank = rank
        self.value = value
    }

    /// The same, for a column whose text may be cut or not.
    package init(_ title: String, shrinks: Bool, rank: Int = 1, _ value: @escaping (Item) -> String) {
        self.init(title, shrinks ? .text : .none, rank: rank, value)
    }

    /// The minimum width of the column.
    fileprivate func leastWidth(of cells: [Table.Cell]) -> Int {
        switch shrinking {
        case .none: Table.width(of: cells)
        case .text: min(Table.width(of: cells), 12)
        case .words: max(cells[0].width, Table.width(of: cells.dropFirst().map { cut($0, to: 0) }))
        }
    }

    fileprivate func cut(_ cell: Table.Cell, to width: Int) -> Table.Cell {
        guard cell.width > width else { return cell }
        let text = cell.text
        return .init(
            shrinking == .words ? DisplayWidth.cutWords(text, to: width) : DisplayWidth.cut(text, to: width)
        )
    }
}

/// Draws aligned columns below a title line.
package enum Table {
    private static let gap = 2

    /// A text that is safe to show. Its width is needed several times and measured once.
    fileprivate struct Cell {
        var text: String
        var width: Int

        init(_ text: String) {
            (self.text, width) = (text, DisplayWidth.of(text))
        }
    }

    /// - Parameters:
    ///   - width: The width of the terminal in columns; nil does not shorten lines.
    ///   - colour: Whether the titles are dimmed.
    package static func render<Item>(_ items: [Item], columns: [TableColumn<Item>], width: Int?, colour: Bool) -> String
    {
        var columns = columns
        var cells = columns.map { column in
            [Cell(column.title)] + column.texts(items).map { Cell($0) }
        }
        var widths = cells.map(Self.width)
        if let width {
            let least = columns.indices.map { columns[$0].leastWidth(of: cells[$0]) }
            let shown = choose(columns.map(\.rank), least: least, in: width)
            (columns, cells) = (shown.map { columns[$0] }, shown.map { cells[$0] })
            widths = shrunk(shown.map { widths[$0] }, least: shown.map { least[$0] }, to: width)
        }
        var text: [UInt8] = []
        for row in 0...items.count {
            if row == 0, colour { text += "\u{1B}[2m".utf8 }
            // Without a limit, every column is as wide as its widest cell.
            append(
                columns.indices.map { width == nil ? cells[$0][row] : columns[$0].cut(cells[$0][row], to: widths[$0]) },
                widths: widths,
                to: &text
            )
            if row == 0, colour { text += "\u{1B}[0m".utf8 }
            text.append(UInt8(ascii: "\n"))
        }
        return String(decoding: text, as: UTF8.self)
    }

    fileprivate static func width(of cells: [Cell]) -> Int {
        cells.reduce(0) { max($0, $1.width) }
    }

    /// The columns that fit, by rank and then from the left.
    private static func choose(_ ranks: [Int], least: [Int], in width: Int) -> [Int] {
        var shown: [Int] = []
        var used = -gap
        for index in ranks.indices.sorted(by: { (ranks[$0], $0) < (ranks[$1], $1) }) {
            guard ranks[index] == 0 || used + gap + least[index] <= width else { continue }
            shown.append(index)
            used += gap + least[index]
        }
        return shown.sorted()
    }

    /// Narrows the widest columns until all fit.
    private static func shrunk(_ widths: [Int], least: [Int], to width: Int) -> [Int] {
        var widths = widths
        var excess = widths.reduce(0, +) + gap * (widths.count - 1) - width
        while excess > 0 {
            let candidates = widths.indices.filter { widths[$0] > least[$0] }
            // On a very narrow terminal every column is shortened.
            let pool = candidates.isEmpty ? widths.indices.filter { widths[$0] > 4 } : candidates
            guard let widest = pool.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private static func append(_ cells: [Cell], widths: [Int], to text: inout [UInt8]) {
        let (start, blank) = (text.count, UInt8(ascii: " "))
        for (index, cell) in cells.enumerated() {
            text += cell.text.utf8
            guard index < cells.count - 1 else { break }
            let blanks = max(0, widths[index] - cell.width) + gap
            text.append(contentsOf: repeatElement(blank, count: blanks))
        }
        while text.count > start, text.last == blank { text.removeLast() }
    }
}
