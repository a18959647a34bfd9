/// Reads a drawing again, before anyone gets to see it.
enum QRProof {
    /// - Parameters:
    ///   - symbol: What was drawn.
    ///   - isDark: Whether a module is dark in the drawing, also within four modules outside of the symbol.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where the drawing does not say what the symbol does, or
    ///   where a reader would have to correct anything.
    static func check(_ symbol: QRSymbol, _ isDark: (Int, Int) -> Bool) throws(QRCodecError) {
        guard SymbolText.read(version: symbol.version, isDark) == symbol.bytes else { throw unreadable }
    }

    static var unreadable: QRCodecError {
        QRCodecError(.encoderFailed, "The drawing of the QR code cannot be read: it was not shown.")
    }
}
