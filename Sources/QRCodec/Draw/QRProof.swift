/// Reads a drawing again, before anyone gets to see it.
enum QRProof {
    /// - Parameters:
    ///   - symbol: What was drawn.
    ///   - isDark: Whether a module is dark in the drawing, also within four modules outside of the symbol.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where the drawing does not say what the symbol does.
    static func check(_ symbol: QRSymbol, _ isDark: (Int, Int) -> Bool) throws(QRCodecError) {
        let image = QRImage(modules: symbol.size, isDark: isDark)
        let says = { (found: [ScannedSymbol]) in found.contains { $0.bytes == symbol.bytes } }
        if let found = try? ZBarScanner.forQR().scan(image), says(found) { return }
        guard let found = try? QRScanner.scan(image), says(found) else { throw unreadable }
    }

    static var unreadable: QRCodecError {
        QRCodecError(.encoderFailed, "The drawing of the QR code cannot be read: it was not shown.")
    }
}
