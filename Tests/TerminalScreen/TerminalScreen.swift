import CompanionWire

/// A terminal that knows what pairtool writes while it draws an answer, and complains about everything else.
package struct TerminalScreen: Sendable {
    private struct Row: Sendable {
        var cells: [String] = []
        var text: String { cells.joined() }
    }

    package let columns: Int
    package let rows: Int
    private var lines = [Row()]
    private var row = 0
    private var column = 0
    /// The escape sequence that has begun.
    private var pending: [UInt8] = []
    private var isInLink = false
    private var hasStyle = false
    /// Whether styles and addresses of links are part of what is shown, as `‹1;96›` and `‹https://…›`.
    private let showsStyles: Bool
    /// What a terminal should not have got.
    package private(set) var faults: [String] = []

    package init(columns: Int, rows: Int, showsStyles: Bool = false) {
        (self.columns, self.rows, self.showsStyles) = (columns, rows, showsStyles)
    }

    /// All rows, from the first one that has scrolled out of the window, without blanks at the end.
    package var shown: String {
        var rows = lines.map { row in
            var text = row.text
            while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
            return text
        }
        while rows.last?.isEmpty == true { rows.removeLast() }
        return rows.joined(separator: "\n")
    }

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
            case "\n": feed()
            case _ where TerminalText.isUnsafe(scalar): faults.append("U+\(String(scalar.value, radix: 16))")
            default: put(scalar)
            }
        }
    }

    private var isComplete: Bool {
        guard pending.count > 2 else { return false }
        let last = pending[pending.count - 1]
        if pending[1] == UInt8(ascii: "]") { return last == UInt8(ascii: "\\") && pending[pending.count - 2] == 0x1B }
        return pending[1] != UInt8(ascii: "[") || last >= 0x40
    }

    private mutating func obey() {
        let sequence = pending
        pending = []
        let body = sequence[2..<sequence.count - 1]
        let isNumeric = body.allSatisfy {
            $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") || $0 == UInt8(ascii: ";")
        }
        let text = String(decoding: body, as: UTF8.self)
        switch (sequence[1], sequence[sequence.count - 1]) {
        case (UInt8(ascii: "]"), _):
            // Behind `8;;` is the address, and ST ends it.
            let address = String(decoding: body.dropFirst(3).dropLast(), as: UTF8.self)
            let isAllowed = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            let isKnown = ["http://", "https://", "mailto:"].contains { address.lowercased().begins(with: $0) }
            if !text.begins(with: "8;;") || !isAllowed || !(isKnown || address.isEmpty) || isInLink == !address.isEmpty
            {
                faults.append("link \(text.debugDescription)")
            }
            isInLink = !address.isEmpty
            if showsStyles { mark("‹\(address.isEmpty ? "/" : address)›") }
        case (UInt8(ascii: "["), UInt8(ascii: "m")) where isNumeric:
            if showsStyles { mark("‹\(text)›") }
            hasStyle = text != "0"
        case (UInt8(ascii: "["), UInt8(ascii: "J")) where body.isEmpty:
            lines = Array(lines[...row])
            lines[row].cells = Array(lines[row].cells.prefix(column))
        case (UInt8(ascii: "["), UInt8(ascii: "A")) where isNumeric:
            // A terminal goes no further up than to the top of its window.
            let up = Int(text) ?? 1
            if row - up < max(0, lines.count - rows) { faults.append("up \(up) at row \(row) of \(lines.count)") }
            row = max(0, row - up)
        default: faults.append("sequence \(String(decoding: sequence, as: UTF8.self).debugDescription)")
        }
    }

    private mutating func mark(_ text: String) {
        if lines[row].cells.isEmpty { lines[row].cells.append("") }
        lines[row].cells[lines[row].cells.count - 1] += text
    }

    private mutating func feed() {
        if hasStyle { faults.append("a style goes on in the next row") }
        if isInLink { faults.append("a link goes on in the next row") }
        (row, column) = (row + 1, 0)
        if row == lines.count { lines.append(Row()) }
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        // What combines joins the cell before it, as in a terminal that knows Unicode.
        let isPlain = scalar.isASCII && lines[row].cells.last?.utf8.count == 1
        if !isPlain, column > 0, let last = lines[row].cells.indices.last {
            let joined = lines[row].cells[last] + String(scalar)
            if joined.unicodeScalars.count > 1, lines[row].cells[last].count == joined.count,
                !lines[row].cells[last].isEmpty
            {
                let before = DisplayWidth.of(lines[row].cells[last])
                lines[row].cells[last] = joined
                column += DisplayWidth.of(joined) - before
                return
            }
        }
        let width = scalar.isASCII ? 1 : DisplayWidth.of(String(scalar))
        if column + width > columns { faults.append("a row is wider than the window: \(lines[row].text)") }
        lines[row].cells.append(String(scalar))
        column += width
    }
}
