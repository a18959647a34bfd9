extension QRSymbol {
    /// The styles and quiet zones that are tried for a window, the best first.
    private static let choices: [(style: QRTerminalStyle, quietZone: Int)] = [
        (.halves, 2), (.halves, 1), (.quadrants, 2), (.quadrants, 1), (.sextants, 2), (.sextants, 1),
    ]

    /// The size of a terminal drawing, in character cells.
    package func terminalSize(
        _ style: QRTerminalStyle = .halves,
        quietZone: Int = 2
    ) -> (columns: Int, rows: Int) {
        let side = size + 2 * Self.measure(quietZone: quietZone)
        return ((side + style.columns - 1) / style.columns, (side + style.rows - 1) / style.rows)
    }

    /// The best drawing that a window has room for: with square modules where possible, else denser, with less margin.
    ///
    /// - Parameters:
    ///   - colour: Whether escape sequences may be written.
    ///   - columns: The width of the window, or `nil` if it does not matter.
    ///   - rows: The height of the window, or `nil` if it does not matter.
    ///   - invert: Without colour, draws the dark modules instead, for light backgrounds. No effect with colour.
    ///   - styles: Those that the terminal can show, and that are wanted.
    ///   - rowsBelow: The rows that are needed below the drawing in a style. Default: none.
    /// - Throws: ``QRCodecError`` with the code `windowTooSmall`, or `encoderFailed` where what was drawn does not read
    ///   back.
    package func terminalDrawing(
        colour: Bool,
        columns: Int?,
        rows: Int?,
        invert: Bool = false,
        styles: [QRTerminalStyle] = QRTerminalStyle.allCases,
        rowsBelow: [QRTerminalStyle: Int] = [:]
    ) throws(QRCodecError) -> QRTerminalDrawing {
        var smallest = (columns: Int.max, rows: Int.max)
        for (style, quietZone) in Self.choices where styles.contains(style) {
            var needed = terminalSize(style, quietZone: quietZone)
            needed.rows += rowsBelow[style] ?? 0
            if needed.columns <= columns ?? .max, needed.rows <= rows ?? .max {
                let text = try terminalText(style, quietZone: quietZone, colour: colour, invert: invert)
                return QRTerminalDrawing(text: text, style: style, quietZone: quietZone)
            }
            smallest = (min(smallest.columns, needed.columns), min(smallest.rows, needed.rows))
        }
        let present = [columns.map { "\($0) columns" }, rows.map { "\($0) rows" }].compactMap(\.self)
        throw QRCodecError(
            .windowTooSmall,
            message: "The QR code needs \(smallest.columns) columns and \(smallest.rows) rows; "
                + "the window has \(present.joined(separator: " and "))."
        )
    }

    /// A drawing for a terminal; every line ends with a line feed.
    ///
    /// With colour, black on white is set explicitly, by palette entries that themes leave alone, so that it can be
    /// scanned from any terminal. Without, no escape is written, and the light modules are drawn: that is right on a
    /// dark background, and most readers take it on a light one too, as the negative that it is there.
    ///
    /// - Parameters:
    ///   - style: How many modules share a character.
    ///   - quietZone: Light modules on each side. The standard wants 4; 2 is enough for cameras and saves lines.
    ///   - colour: Whether escape sequences may be written.
    ///   - invert: Without colour, draws the dark modules instead, for light backgrounds. No effect with colour.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where what was drawn does not read back.
    package func terminalText(
        _ style: QRTerminalStyle = .halves,
        quietZone: Int = 2,
        colour: Bool,
        invert: Bool = false
    ) throws(QRCodecError) -> String {
        let needed = terminalSize(style, quietZone: quietZone)
        // In colour the ink is black. Without, it is the terminal's foreground, taken to be the lighter one.
        let inkIsDark = colour || invert
        let quiet = Self.measure(quietZone: quietZone)
        // Where characters reach beyond the modules, the finder patterns begin with a whole character if they can, and not
        // in its lower half, of whose glyph fonts leave the last row free.
        let spare = needed.rows * style.rows - size - 2 * quiet
        let missing = (style.rows - quiet % style.rows) % style.rows
        let top = quiet + (missing <= spare ? missing : 0)
        let characters = style.characters
        var lines: [[Character]] = []
        for row in 0..<needed.rows {
            lines.append(
                (0..<needed.columns).map { column in
                    var bits = 0
                    for part in 0..<style.rows * style.columns {
                        let x = column * style.columns + part % style.columns - quiet
                        let y = row * style.rows + part / style.columns - top
                        if self[x, y] == inkIsDark { bits |= 1 << part }
                    }
                    return characters[bits]
                }
            )
        }
        try check(lines, style: style, quietZone: quiet, top: top, inkIsDark: inkIsDark)
        guard colour else { return lines.map { String($0) + "\n" }.joined() }
        return lines.map { Self.blackOnWhite + Self.blackened($0) + "\u{1B}[0m\n" }.joined()
    }

    /// Entries 16 and 231 of the 256-colour palette: black and white in every terminal, unlike the first sixteen.
    private static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"

    /// Puts black behind full blocks, too: the glyphs of many fonts leave a row of the cell free, and white lines
    /// through its dark modules make a code unreadable.
    private static func blackened(_ line: [Character]) -> String {
        var text = ""
        var isBlack = false
        for character in line {
            if (character == "█") != isBlack {
                isBlack.toggle()
                text += isBlack ? "\u{1B}[48;5;16m" : "\u{1B}[48;5;231m"
            }
            text.append(character)
        }
        return text
    }

    private func check(
        _ lines: [[Character]],
        style: QRTerminalStyle,
        quietZone: Int,
        top: Int,
        inkIsDark: Bool
    ) throws(QRCodecError) {
        let bits = Dictionary(uniqueKeysWithValues: zip(style.characters, 0...))
        try QRReadBack.check(self) { x, y in
            let (column, row) = (x + quietZone, y + top)
            guard column >= 0, row >= 0, row / style.rows < lines.count,
                column / style.columns < lines[row / style.rows].count
            else { return false }
            let character = lines[row / style.rows][column / style.columns]
            let part = row % style.rows * style.columns + column % style.columns
            return ((bits[character] ?? 0) >> part & 1 == 1) == inkIsDark
        }
    }
}
