/// Reads a drawing again, before anyone gets to see it.
enum QRProof {
    /// Pixels a module of the picture that is read, and modules of quiet zone.
    private static let (scale, quietZone) = (3, 4)

    /// - Parameters:
    ///   - symbol: What was drawn.
    ///   - isDark: Whether a module is dark in the drawing, also within four modules outside of the symbol.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where the drawing does not say what the symbol does.
    static func check(_ symbol: QRSymbol, _ isDark: (Int, Int) -> Bool) throws(QRCodecError) {
        let side = (symbol.size + 2 * quietZone) * scale
        var image = QRImage(width: side, height: side, filledWith: 255)
        for y in -quietZone..<symbol.size + quietZone {
            for x in -quietZone..<symbol.size + quietZone where isDark(x, y) {
                let start = (y + quietZone) * scale * side + (x + quietZone) * scale
                for row in 0..<scale {
                    for column in 0..<scale { image.luminance[start + row * side + column] = 0 }
                }
            }
        }
        let reader = try ZBarScanner.forQR()
        if try reader.scan(image).contains(where: { $0.bytes == symbol.bytes }) { return }
        guard try QRScanner.scan(image).contains(where: { $0.bytes == symbol.bytes }) else {
            throw QRCodecError(.encoderFailed, "The drawing of the QR code cannot be read: it was not shown.")
        }
    }
}
