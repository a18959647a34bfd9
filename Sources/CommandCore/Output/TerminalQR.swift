package import QRCodec

/// QR codes on this terminal.
package struct TerminalQR {
    package let context: CommandContext
    /// Lines that have to be in the window with the drawing.
    package var linesBelow = 0
    package var invert = false

    package init(context: CommandContext, linesBelow: Int = 0, invert: Bool = false) {
        self.context = context
        self.linesBelow = linesBelow
        self.invert = invert
    }

    package func draw(_ symbol: QRSymbol) throws(QRCodecError) -> QRTerminalDrawing {
        let window = context.stdoutIsTerminal ? context.windowSize() : nil
        // The console of Linux has half blocks and hardly any other.
        let isConsole = context.environment["TERM"] == "linux"
        return try symbol.terminalDrawing(
            colour: context.colour,
            columns: window?.columns,
            rows: window.map { $0.rows - linesBelow },
            invert: invert,
            styles: isConsole ? [.halves] : QRTerminalStyle.allCases
        )
    }

    /// What to say about a drawing that had to be made denser than is good for cameras.
    ///
    /// - Parameter way: How to get a picture instead.
    package static func remark(_ drawing: QRTerminalDrawing, way: String) -> String? {
        switch drawing.style {
        case .halves: nil
        case .quadrants:
            "The window is narrow, so the drawing is squeezed. If it cannot be scanned, make the window wider, or \(way)."
        case .sextants:
            "The window is small, so the drawing is dense. If it shows boxes or cannot be scanned, make the window larger, or \(way)."
        }
    }
}
