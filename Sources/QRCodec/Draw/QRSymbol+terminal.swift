extension QRSymbol {
    /// The size of the terminal drawing, in character cells.
    package func terminalSize(quietZone: Int = 2) -> (columns: Int, rows: Int) {
        let side = size + 2 * Self.measure(quietZone: quietZone)
        return (side, (side + 1) / 2)
    }

    /// A drawing for a terminal, each character one module wide and two high; every line ends with a line feed.
    ///
    /// With colour, black on white is set explicitly, by palette entries that themes leave alone, so that it can be
    /// scanned from any terminal. Without, no escape is written, and the light modules are drawn: that is right on a
    /// dark background, and most readers take it on a light one too, as the negative that it is there.
    ///
    /// - Parameters:
    ///   - quietZone: Light modules on each side. The standard wants 4; 2 is enough for cameras and saves lines.
    ///   - colour: Whether escape sequences may be written.
    ///   - columns: The width of the window, or `nil` if it does not matter.
    ///   - rows: The height of the window, or `nil` if it does not matter.
    ///   - invert: Without colour, draws the dark modules instead, for light backgrounds. No effect with colour.
    /// - Throws: ``QRCodecError`` with the code `windowTooSmall`.
    package func terminalText(
        quietZone: Int = 2,
        colour: Bool,
        columns: Int?,
        rows: Int?,
        invert: Bool = false
    ) throws(QRCodecError) -> String {
        let needed = terminalSize(quietZone: quietZone)
        guard needed.columns <= columns ?? .max, needed.rows <= rows ?? .max else {
            let present = [columns.map { "\($0) columns" }, rows.map { "\($0) rows" }].compactMap(\.self)
            throw QRCodecError(
                .windowTooSmall,
                "The QR code needs \(needed.columns) columns and \(needed.rows) rows; "
                    + "the window has \(present.joined(separator: " and "))."
            )
        }
        // In colour the ink is black. Without, it is the terminal's foreground, taken to be the lighter one.
        let inkIsDark = colour || invert
        let quiet = Self.measure(quietZone: quietZone)
        var text = ""
        text.reserveCapacity(needed.rows * (needed.columns * 3 + 32))
        for row in 0..<needed.rows {
            let y = 2 * row - quiet
            if colour { text += Self.blackOnWhite }
            for x in -quiet..<size + quiet {
                let upper = self[x, y] == inkIsDark
                let lower = self[x, y + 1] == inkIsDark
                text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }
            text += colour ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    /// Entries 16 and 231 of the 256-colour palette: black and white in every terminal, unlike the first sixteen.
    private static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"
}
