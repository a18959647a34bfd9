import CompanionWire

/// A terminal that knows what pairtool writes, and complains about everything else.
package struct TerminalScreen: Sendable {
    private struct Row: Sendable {
        /// What has no column: marks before the first character.
        var lead = ""
        /// A text for each column. A wide character is followed by an empty one.
        var cells: [String] = []
        /// Whether the terminal broke the row, so that it goes on in the next.
        var isBroken = false

        var text: String { lead + cells.joined() }

        mutating func put(_ text: String, width: Int, at column: Int) {
            while cells.count < column + width { cells.append(" ") }
            cells[column] = text
            if width == 2 { cells[column + 1] = "" }
        }
    }

    package struct Place: Sendable, Hashable {
        package var row: Int
        package var column: Int

        package init(row: Int, column: Int) {
            (self.row, self.column) = (row, column)
        }
    }

    package private(set) var columns: Int
    package let rows: Int
    private let reflows: Bool
    private let takesLongRows: Bool
    private let showsStyles: Bool
    private var lines = [Row()]
    /// The first row that the window shows.
    private var top = 0
    private var row = 0
    private var column = 0
    private var wraps = true
    /// The escape sequence that has begun.
    private var pending: [UInt8] = []
    private var isInLink = false
    private var hasStyle = false
    /// What a terminal should not have got.
    package private(set) var faults: [String] = []

    /// - Parameters:
    ///   - showsStyles: Whether styles and addresses of links are part of what is shown, as `‹1;96›` and `‹https://…›`.
    ///   - takesLongRows: Whether rows may be written that the terminal has to break.
    ///   - reflows: Whether rows are broken anew when the window changes, as in tmux and VTE. xterm cuts them.
    package init(
        columns: Int,
        rows: Int,
        showsStyles: Bool = false,
        takesLongRows: Bool = false,
        reflows: Bool = true
    ) {
        (self.columns, self.rows, self.showsStyles) = (columns, rows, showsStyles)
        (self.takesLongRows, self.reflows) = (takesLongRows, reflows)
    }

    /// All rows, from the first one that has scrolled out of the window, without blanks at the end.
    package var shown: String {
        var rows = lines.map(Self.trimmed)
        while rows.last?.isEmpty == true { rows.removeLast() }
        return rows.joined(separator: "\n")
    }

    /// The same rows up to that of the cursor, and further ones that are not empty.
    package var text: [String] {
        var texts = lines.map(Self.trimmed)
        while texts.count - 1 > row, texts[texts.count - 1].isEmpty { texts.removeLast() }
        return texts
    }

    private static func trimmed(_ row: Row) -> String {
        var text = row.text
        while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
        return text
    }

    package var cursor: Place { Place(row: row, column: column) }
    package var isCursorVisible: Bool { (top..<top + rows).contains(row) && column < columns }

    package mutating func write(_ bytes: [UInt8]) {
        write(String(decoding: bytes, as: UTF8.self))
    }

    package mutating func write(_ text: String) {
        for scalar in text.unicodeScalars {
            if !pending.isEmpty {
                pending += scalar.utf8
                if isComplete { obey() }
                continue
            }
            switch scalar {
            case "\u{1B}": pending = [0x1B]
            case "\r": column = 0
            case "\n":
                column = 0
                feed()
            case _ where TerminalText.isUnsafe(scalar): faults.append("U+\(String(scalar.value, radix: 16))")
            default: put(scalar)
            }
        }
    }

    // MARK: Sequences

    private var isComplete: Bool {
        guard pending.count > 2 else { return false }
        let last = pending[pending.count - 1]
        if pending[1] == UInt8(ascii: "]") { return last == UInt8(ascii: "\\") && pending[pending.count - 2] == 0x1B }
        return pending[1] != UInt8(ascii: "[") || last >= 0x40
    }

    private mutating func obey() {
        let sequence = pending
        pending = []
        let body = String(decoding: sequence[2..<sequence.count - 1], as: UTF8.self)
        let end = Unicode.Scalar(sequence[sequence.count - 1])
        if sequence[1] == UInt8(ascii: "]") { return obey(link: String(body.dropLast())) }
        let isNumeric = body.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: ";") }
        let number = max(1, Int(body) ?? 1)
        switch (end, body) {
        case ("m", _) where isNumeric:
            if showsStyles { mark("‹\(body)›") }
            hasStyle = body != "0"
        case ("A", _) where isNumeric:
            // A terminal goes no further up than to the top of its window.
            if row - number < top { faults.append("up \(number) at row \(row) below \(top)") }
            row = max(top, row - number)
        case ("B", _) where isNumeric: row = min(top + rows - 1, lines.count - 1, row + number)
        case ("C", _) where isNumeric: column = min(columns - 1, column + number)
        case ("H", ""): (row, column) = (top, 0)
        case ("K", ""): erase(row, from: column)
        case ("J", ""):
            erase(row, from: column)
            for other in lines.indices[(row + 1)...] { erase(other, from: 0) }
        case ("J", "2"): for other in lines.indices[top...] { erase(other, from: 0) }
        case ("l", "?7"): wraps = false
        case ("h", "?7"): wraps = true
        default: faults.append("sequence \(String(decoding: sequence, as: UTF8.self).debugDescription)")
        }
    }

    /// Behind `8;;` is the address.
    private mutating func obey(link: String) {
        let address = String(link.dropFirst(3))
        let isAllowed = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        let isKnown = ["http://", "https://", "mailto:"].contains { address.lowercased().begins(with: $0) }
        if !link.begins(with: "8;;") || !isAllowed || !(isKnown || address.isEmpty) || isInLink == !address.isEmpty {
            faults.append("link \(link.debugDescription)")
        }
        isInLink = !address.isEmpty
        if showsStyles { mark("‹\(address.isEmpty ? "/" : address)›") }
    }

    private mutating func mark(_ text: String) {
        if lines[row].cells.isEmpty {
            lines[row].lead += text
        } else {
            lines[row].cells[lines[row].cells.count - 1] += text
        }
    }

    private mutating func erase(_ row: Int, from column: Int) {
        lines[row].cells.removeLast(max(0, lines[row].cells.count - column))
        if column == 0 { lines[row].lead = "" }
        lines[row].isBroken = false
    }

    // MARK: Text

    private mutating func feed() {
        if hasStyle { faults.append("a style goes on in the next row") }
        if isInLink { faults.append("a link goes on in the next row") }
        row += 1
        if row == lines.count { lines.append(Row()) }
        top = max(top, row - rows + 1)
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        if join(scalar) { return }
        let width = scalar.isASCII ? 1 : DisplayWidth.of(String(scalar))
        guard width > 0 else {
            if column == 0 { lines[row].lead.unicodeScalars.append(scalar) } else { mark(String(scalar)) }
            return
        }
        if column + width > columns {
            if !wraps {
                column = max(0, columns - width)
            } else {
                if !takesLongRows { faults.append("a row is wider than the window: \(lines[row].text)") }
                lines[row].isBroken = true
                column = 0
                feed()
            }
        }
        lines[row].put(String(scalar), width: width, at: column)
        column += width
        // Without wrapping, the cursor stays on the last column.
        if !wraps { column = min(column, columns - 1) }
    }

    /// What combines joins the character before it, as in a terminal that knows Unicode.
    private mutating func join(_ scalar: Unicode.Scalar) -> Bool {
        var place = min(column, lines[row].cells.count) - 1
        guard place >= 0 else { return false }
        if scalar.isASCII, lines[row].cells[place].utf8.count == 1 { return false }
        while place > 0, lines[row].cells[place].isEmpty { place -= 1 }
        let before = lines[row].cells[place]
        let joined = before + String(scalar)
        guard !before.isEmpty, before.count == joined.count else { return false }
        let width = place + 1 < lines[row].cells.count && lines[row].cells[place + 1].isEmpty ? 2 : 1
        // A variation selector makes a narrow character wide.
        let grown = min(2 - width, max(0, DisplayWidth.of(joined) - DisplayWidth.of(before)))
        lines[row].put(joined, width: width + grown, at: place)
        column += grown
        return true
    }

    // MARK: The window

    /// Makes the window wider or narrower.
    package mutating func resize(columns new: Int) {
        defer { columns = new }
        guard reflows else {
            for index in lines.indices { lines[index].cells = Array(lines[index].cells.prefix(new)) }
            column = min(column, new - 1)
            return
        }
        var made: [Row] = []
        var place = Place(row: 0, column: 0)
        var index = 0
        while index < lines.count {
            var (line, offset) = ([String](), nil as Int?)
            repeat {
                if index == row { offset = line.count + column }
                line += lines[index].cells
                index += 1
            } while index < lines.count && lines[index - 1].isBroken
            made.append(Row())
            var used = 0
            for (number, cell) in line.enumerated() where !cell.isEmpty {
                let width = number + 1 < line.count && line[number + 1].isEmpty ? 2 : 1
                if made[made.count - 1].cells.count + width > new {
                    made[made.count - 1].isBroken = true
                    made.append(Row())
                }
                if let offset, offset >= used, offset < used + width {
                    place = Place(row: made.count - 1, column: made[made.count - 1].cells.count)
                }
                made[made.count - 1].put(cell, width: width, at: made[made.count - 1].cells.count)
                used += width
            }
            if let offset, offset >= used {
                let rest = made[made.count - 1].cells.count + offset - used
                place = Place(row: made.count - 1, column: min(rest, new - 1))
            }
        }
        lines = made
        (row, column) = (place.row, place.column)
        top = max(0, row - rows + 1, min(top, lines.count - 1))
    }
}
