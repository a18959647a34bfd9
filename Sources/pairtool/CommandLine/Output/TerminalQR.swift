import QRCodec

/// QR codes on this terminal.
struct TerminalQR {
    /// A drawing with what is said about it.
    struct Page: Sendable {
        /// What may be out of the window when the drawing is looked at.
        var above: [Line]
        var below: [Line]

        init(above: [Line] = [], below: [Line]) {
            self.above = above
            self.below = below
        }
    }

    /// Text with the drawing: data, or talk about it, which goes to standard error.
    struct Line: Sendable {
        var text: String
        var isTalk: Bool

        static func data(_ text: String) -> Line { Line(text: text, isTalk: false) }
        static func talk(_ text: String) -> Line { Line(text: text, isTalk: true) }
    }

    private let output: Output
    private let invert: Bool
    /// Whether several modules may share a character, in characters that not every font has.
    private let dense: Bool
    /// Rows that come later and have to be in the window with the drawing: a prompt, a countdown.
    private let rowsAfter: Int

    init(output: Output, rowsAfter: Int, dense: Bool, invert: Bool = false) {
        self.output = output
        self.dense = dense
        self.rowsAfter = rowsAfter
        self.invert = invert
    }

    /// Draws into the window, which keeps all of the drawing.
    ///
    /// A larger drawing goes before more text below it: it is what cameras have to read.
    ///
    /// - Parameter pages: What can be said with a drawing in a style, the best first and the one with the fewest rows
    ///   below last.
    /// - Throws: ``QRCodecError`` with the code `windowTooSmall`; nothing was written then.
    func show(_ symbol: QRSymbol, pages: [QRTerminalStyle: [Page]]) throws(QRCodecError) {
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

    /// The drawing that is the best for the window.
    ///
    /// - Parameter rowsBelow: The rows that are to be below the drawing in a style. Default: none.
    func draw(
        _ symbol: QRSymbol,
        rowsBelow: [QRTerminalStyle: Int] = [:]
    ) throws(QRCodecError) -> QRTerminalDrawing {
        let context = output.context
        // The console of Linux has half blocks and hardly any other.
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

    /// Whether the window has room for one of the pages.
    func fits(_ symbol: QRSymbol, pages: [QRTerminalStyle: [Page]]) -> Bool {
        let rowsBelow = pages.mapValues { $0.map(rows).min() ?? 0 }
        do {
            _ = try draw(symbol, rowsBelow: rowsBelow)
            return true
        } catch {
            return false
        }
    }

    private var window: CommandContext.WindowSize? {
        output.context.stdoutIsTerminal ? output.context.windowSize() : nil
    }

    private func rows(of page: Page) -> Int {
        guard let window else { return 0 }
        return page.below.filter(isShown).reduce(0) { rows, line in
            let text = line.isTalk ? output.fitted(line.text, indent: 0) : line.text
            return rows + DisplayWidth.rows(of: text, columns: window.columns)
        }
    }

    /// Whether a line gets to the terminal.
    private func isShown(_ line: Line) -> Bool {
        !line.isTalk || output.context.stderrIsTerminal && output.format != .quiet
    }

    private func write(_ lines: [Line]) {
        for line in lines {
            if line.isTalk { output.say(line.text) } else { output.data(line.text) }
        }
    }

    /// What to say about a drawing that had to be made denser than is good for cameras.
    ///
    /// - Parameter way: How to get a picture instead.
    static func remark(_ style: QRTerminalStyle, way: String) -> Line? {
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
