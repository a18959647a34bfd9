/// Reads a drawing again, before anyone gets to see it.
enum QRProof {
    /// - Parameters:
    ///   - symbol: What was drawn.
    ///   - isDark: Whether a module is dark in the drawing, also within four modules outside of the symbol.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where the drawing does not say what the symbol does.
    static func check(_ symbol: QRSymbol, _ isDark: (Int, Int) -> Bool) throws(QRCodecError) {
        let image = QRImage(modules: symbol.size, isDark: isDark)
        let reader = try ZBarScanner.forQR()
        if try reader.scan(image).contains(where: { $0.bytes == symbol.bytes }) { return }
        guard try QRScanner.scan(image).contains(where: { $0.bytes == symbol.bytes }) else {
            throw QRCodecError(.encoderFailed, "The drawing of the QR code cannot be read: it was not shown.")
        }
    }
}
