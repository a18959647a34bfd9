@testable import LineEditor

/// A small terminal: it understands what ``LineRenderer`` writes, and no more.
struct TestTerminal {
    private struct Row {
        /// A wide character is followed by an empty cell. Trailing blanks are none.
        var cells: [String] = []
        /// Whether the terminal broke the row, so that it goes on in the next.
        var isBroken = false

        var text: String { cells.joined() }

        mutating func put(_ text: String, width: Int, at column: Int) {
            while cells.count < column + width { cells.append(" ") }
            cells[column] = text
            if width == 2 { cells[column + 1] = "" }
        }
    }

    private(set) var columns: Int
    private let height: Int
    private let reflows: Bool
    private var rows = [Row()]
    /// The first row that the window shows.
    private var top = 0
    private var row = 0
    private var column = 0
    private var wraps = true
    /// What it did not understand.
    private(set) var unknown: [String] = []

    init(columns: Int, rows: Int, reflows: Bool = true) {
        (self.columns, height, self.reflows) = (columns, rows, reflows)
    }

    /// All rows, also those that have left the window, without trailing blanks.
    var text: [String] {
        var texts = rows.map { String($0.text.reversed().drop { $0 == " " }.reversed()) }
        while texts.count > 1, texts[texts.count - 1].isEmpty, texts.count - 1 > row { texts.removeLast() }
        return texts
    }

    var cursor: LineLayout.Place { .init(row: row, column: column) }
    var isCursorVisible: Bool { (top..<top + height).contains(row) && column < columns }

    mutating func write(_ text: String) {
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{7}": break
            case "\u{1B}":
                var sequence = ""
                while let next = scalars.popFirst() {
                    sequence.unicodeScalars.append(next)
                    if (0x40...0x7E).contains(next.value), next != "[" { break }
                }
                obey(sequence)
            default: put(scalar)
            }
        }
    }

    private mutating func lineFeed() {
        row += 1
        while rows.count <= row { rows.append(Row()) }
        top = max(top, row - height + 1)
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = testRule(Character(scalar)).width
        guard width > 0 else {
            var place = min(column, rows[row].cells.count) - 1
            while place > 0, rows[row].cells[place].isEmpty { place -= 1 }
            if place >= 0 { rows[row].cells[place].unicodeScalars.append(scalar) }
            return
        }
        if column + width > columns {
            if wraps {
                rows[row].isBroken = true
                column = 0
                lineFeed()
            } else {
                column = max(0, columns - width)
            }
        }
        rows[row].put(String(Character(scalar)), width: width, at: column)
        column += width
        // Without wrapping, the cursor stays on the last column.
        if !wraps { column = min(column, columns - 1) }
    }

    private mutating func obey(_ sequence: String) {
        let number = Int(sequence.dropFirst().dropLast()) ?? 0
        switch (sequence.first, sequence.last) {
        case ("[", "A"): row = max(top, row - max(1, number))
        case ("[", "B"): row = min(top + height - 1, rows.count - 1, row + max(1, number))
        case ("[", "C"): column = min(columns - 1, column + max(1, number))
        case ("[", "H"): (row, column) = (top, 0)
        case ("[", "K"): erase(row, from: column)
        case ("[", "J"):
            if number == 2 {
                for row in top..<rows.count { erase(row, from: 0) }
            } else {
                erase(row, from: column)
                for row in (row + 1)..<max(row + 1, rows.count) { erase(row, from: 0) }
            }
        case _ where sequence == "[?7l": wraps = false
        case _ where sequence == "[?7h": wraps = true
        default: unknown.append(sequence)
        }
    }

    private mutating func erase(_ row: Int, from column: Int) {
        rows[row].cells.removeLast(max(0, rows[row].cells.count - column))
        rows[row].isBroken = false
    }

    /// Makes the window wider or narrower, as xterm does or as terminals do that reflow (tmux, VTE).
    mutating func resize(columns new: Int) {
        defer { columns = new }
        guard reflows else {
            for index in rows.indices { rows[index].cells = Array(rows[index].cells.prefix(new)) }
            column = min(column, new - 1)
            return
        }
        var made: [Row] = []
        var place = LineLayout.Place()
        var index = 0
        while index < rows.count {
            var (line, offset) = ([String](), nil as Int?)
            repeat {
                if index == row { offset = line.count + column }
                line += rows[index].cells
                index += 1
            } while index < rows.count && rows[index - 1].isBroken
            made.append(Row())
            var used = 0
            for (number, cell) in line.enumerated() where !cell.isEmpty {
                let width = number + 1 < line.count && line[number + 1].isEmpty ? 2 : 1
                if made[made.count - 1].cells.count + width > new {
                    made[made.count - 1].isBroken = true
                    made.append(Row())
                }
                if let offset, offset >= used, offset < used + width {
                    place = .init(row: made.count - 1, column: made[made.count - 1].cells.count)
                }
                let column = made[made.count - 1].cells.count
                made[made.count - 1].put(cell, width: width, at: column)
                used += width
            }
            if let offset, offset >= used {
                let rest = made[made.count - 1].cells.count + offset - used
                place = .init(row: made.count - 1, column: min(rest, new - 1))
            }
        }
        rows = made
        (row, column) = (place.row, place.column)
        top = max(0, row - height + 1, min(top, rows.count - 1))
    }
}
