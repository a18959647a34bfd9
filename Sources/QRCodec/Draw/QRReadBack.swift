/// Reads a drawing again, before anyone gets to see it.
enum QRReadBack {
    /// - Parameters:
    ///   - symbol: What was drawn.
    ///   - isDark: Whether a module is dark in the drawing, also within the quiet zone around the symbol.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where a module is not as it should be, or where zbar
    ///   does not read what the symbol says.
    static func check(_ symbol: QRSymbol, _ isDark: (Int, Int) -> Bool) throws(QRCodecError) {
        let modules = -QRSymbol.quietZone..<symbol.size + QRSymbol.quietZone
        for y in modules {
            for x in modules where isDark(x, y) != symbol[x, y] { throw unreadable }
        }
        let found = try ZBarScanner.forQR().scan(QRImage(modules: symbol.size, isDark: isDark))
        guard found.map(\.bytes) == [symbol.bytes] else { throw unreadable }
    }

    private static var unreadable: QRCodecError {
        QRCodecError(.encoderFailed, message: "The drawing of the QR code cannot be read: it was not shown.")
    }
}
