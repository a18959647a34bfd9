/// The rows that a text takes in a window, and where its cursor is.
struct LineLayout: Sendable {
    struct Place: Sendable, Equatable {
        var row = 0
        var column = 0
    }

    private(set) var rows = [ScreenRow()]
    private(set) var cursor = Place()
    private let columns: Int
    private let rule: Glyph.Rule

    /// - Parameter columns: The window's width: 1 or more.
    init(prompt: String, buffer: LineBuffer, columns: Int, rule: @escaping Glyph.Rule) {
        (self.columns, self.rule) = (max(1, columns), rule)
        for character in prompt { add(rule(character)) }
        // Further lines are indented to stand below the first, if the window is wide enough.
        let indent = rows.count == 1 && rows[0].width * 4 <= columns ? rows[0].width : 0
        for (index, cell) in buffer.cells.enumerated() {
            if index == buffer.cursor { markCursor(before: cell) }
            switch cell {
            case .character("\n"):
                rows.append(ScreenRow())
                for _ in 0..<indent { add(Glyph(" ", width: 1)) }
            case .character("\t"): for _ in 0..<4 { add(Glyph(" ", width: 1)) }
            case .character(let character): add(rule(character))
            case .paste(let text): for character in Self.label(of: text) { add(Glyph(String(character), width: 1)) }
            }
        }
        if buffer.cursor == buffer.cells.count {
            if last.width >= self.columns { rows.append(ScreenRow()) }
            cursor = Place(row: rows.count - 1, column: last.width)
        }
    }

    private var last: ScreenRow { rows[rows.count - 1] }

    private mutating func markCursor(before cell: LineBuffer.Cell) {
        if case .character(let character) = cell, character != "\n", character != "\t" {
            beginRow(for: fitting(rule(character)))
        } else if !cell.isLineFeed {
            beginRow(for: Glyph(" ", width: 1))
        }
        // A line feed at the end of a full row has no column.
        cursor = Place(row: rows.count - 1, column: min(last.width, columns - 1))
    }

    /// Begins another row if a glyph does not fit in the last one.
    private mutating func beginRow(for glyph: Glyph) {
        // Terminals that do not wrap add a combining mark in the last column to the wrong character.
        let isCombined = glyph.text.unicodeScalars.count > 1
        guard last.width > 0, last.width + glyph.width > (isCombined ? columns - 1 : columns) else { return }
        rows.append(ScreenRow())
    }

    /// The glyph, or a narrow one where a wide one never fits.
    private func fitting(_ glyph: Glyph) -> Glyph {
        glyph.width <= columns ? glyph : Glyph("?", width: 1)
    }

    private mutating func add(_ glyph: Glyph) {
        let glyph = fitting(glyph)
        beginRow(for: glyph)
        rows[rows.count - 1].append(glyph)
    }

    /// Returns the text that stands for a large paste, such as `[pasted 20 lines, 812 bytes]`.
    static func label(of text: String) -> String {
        let bytes = text.utf8.count
        let lines = text.utf8.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        let size =
            bytes < 10_000 ? "\(bytes) bytes" : bytes < 10_000_000 ? "\(bytes / 1000) kB" : "\(bytes / 1_000_000) MB"
        return lines == 1 ? "[pasted \(size)]" : "[pasted \(lines) lines, \(size)]"
    }
}
