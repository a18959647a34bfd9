import CompanionWire
package import QRCodec

/// Draws QR codes on this terminal.
package struct TerminalQR {
    /// The text above and below a drawing.
    package struct Page: Sendable {
        /// May scroll out of the window while the drawing is visible.
        package var above: [Line]
        package var below: [Line]

        package init(above: [Line] = [], below: [Line]) {
            self.above = above
            self.below = below
        }
    }

    /// A line of text beside the drawing: data, or a message, which goes to standard error.
    package struct Line: Sendable {
        package var text: String
        package var isTalk: Bool

        package static func data(_ text: String) -> Line { Line(text: text, isTalk: false) }
        package static func talk(_ text: String) -> Line { Line(text: text, isTalk: true) }
    }

    private let output: Output
    private let invert: Bool
    private let dense: Bool
    private let rowsAfter: Int

    /// - Parameters:
    ///   - rowsAfter: Rows that are printed later and have to fit into the window with the drawing: a prompt, a countdown.
    ///   - dense: Whether several modules may share a character. Not every font has these characters.
    ///   - invert: Whether dark modules are drawn instead of light ones where there is no colour. Default: false.
    package init(output: Output, rowsAfter: Int, dense: Bool, invert: Bool = false) {
        self.output = output
        self.dense = dense
        self.rowsAfter = rowsAfter
        self.invert = invert
    }

    /// Draws into the window, so that the whole drawing is visible.
    ///
    /// A larger drawing is preferred to more text below it, because cameras have to read the drawing.
    ///
    /// - Parameter pages: The choices of text for each style of drawing, the best first and the one with the fewest
    ///   rows below last.
    /// - Throws: ``QRCodecError`` with the code `windowTooSmall`; nothing was written then.
    package func show(_ symbol: QRSymbol, pages: [QRTerminalStyle: [Page]]) throws(QRCodecError) {
        let drawing = try draw(symbol, rowsBelow: pages.mapValues { $0.map(rows).min() ?? 0 })
        let choices = pages[drawing.style] ?? []
        let rowsLeft = (window?.rows ?? .max) - drawing.text.count { $0 == "\n" } - rowsAfter
        guard let page = choices.first(where: { rows(of: $0) <= rowsLeft }) ?? choices.last else {
            return output.data(drawing.text)
        }
        write(page.above)
        output.data(drawing.text)
        write(page.below)
    }

    /// The best drawing for the window.
    ///
    /// - Parameter rowsBelow: The rows of text below the drawing, for each style. Default: none.
    package func draw(
        _ symbol: QRSymbol,
        rowsBelow: [QRTerminalStyle: Int] = [:]
    ) throws(QRCodecError) -> QRTerminalDrawing {
        let context = output.context
        // The Linux console has half blocks, but hardly any other block characters.
        let isConsole = context.environment["TERM"] == "linux"
        let rows = QRTerminalStyle.allCases.map { ($0, rowsAfter + (rowsBelow[$0] ?? 0)) }
        return try symbol.terminalDrawing(
            colour: context.takesColour,
            columns: window?.columns,
            rows: window?.rows,
            invert: invert,
            styles: dense && !isConsole ? QRTerminalStyle.allCases : [.halves],
            rowsBelow: Dictionary(uniqueKeysWithValues: rows)
        )
    }

    /// Whether the window has room for the drawing with at least one of the pages.
    package func fits(_ symbol: QRSymbol, pages: [QRTerminalStyle: [Page]]) -> Bool {
        let rowsBelow = pages.mapValues { $0.map(rows).min() ?? 0 }
        do {
            _ = try draw(symbol, rowsBelow: rowsBelow)
            return true
        } catch {
            return false
        }
    }

    private var window: TerminalContext.WindowSize? {
        output.context.stdoutIsTerminal ? output.context.windowSize() : nil
    }

    private func rows(of page: Page) -> Int {
        guard let window else { return 0 }
        return page.below.filter(isShown).reduce(0) { rows, line in
            let text = line.isTalk ? output.fitted(line.text, indent: 0) : line.text
            return rows + DisplayWidth.rows(of: text, columns: window.columns)
        }
    }

    /// Whether a line is shown on the terminal.
    private func isShown(_ line: Line) -> Bool {
        !line.isTalk || output.context.stderrIsTerminal && output.format != .quiet
    }

    private func write(_ lines: [Line]) {
        for line in lines {
            if line.isTalk { output.say(line.text) } else { output.data(line.text) }
        }
    }

    /// A remark about a drawing that is denser than is good for cameras; nil for one that is not.
    ///
    /// - Parameter way: How to get a picture instead.
    package static func remark(_ style: QRTerminalStyle, way: String) -> Line? {
        switch style {
        case .halves: nil
        case .quadrants:
            .talk(
                "The window is narrow, so the drawing is squeezed. If it cannot be scanned, make the window wider, or \(way)."
            )
        case .sextants:
            .talk(
                "The window is small, so the drawing is dense. If it shows boxes or cannot be scanned, make the window larger, or \(way)."
            )
        }
    }
}
