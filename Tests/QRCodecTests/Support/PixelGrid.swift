@testable import QRCodec

/// A picture made by hand: a symbol, or a drawing of one turned back into pixels.
struct PixelGrid {
    var width: Int
    var height: Int
    /// Row by row, `true` for dark.
    var dark: [Bool]

    /// A symbol with its quiet zone.
    init(_ symbol: QRSymbol, scale: Int, quietZone: Int = 4) {
        let side = (symbol.size + 2 * quietZone) * scale
        self.init(width: side, height: side) { x, y in
            symbol[x / scale - quietZone, y / scale - quietZone]
        }
    }

    init(width: Int, height: Int, isDark: (Int, Int) -> Bool) {
        self.width = width
        self.height = height
        dark = (0..<height).flatMap { y in (0..<width).map { x in isDark(x, y) } }
    }

    /// What a terminal shows for lines of half blocks: two pixels high, one wide, each drawn `scale` times.
    ///
    /// - Parameters:
    ///   - inkIsDark: Whether the foreground is the darker colour.
    init(halfBlocks text: String, inkIsDark: Bool, scale: Int) {
        let lines = text.split(separator: "\n").map(Array.init)
        self.init(width: (lines.first?.count ?? 0) * scale, height: lines.count * 2 * scale) { x, y in
            let character = lines[y / scale / 2][x / scale]
            let isInk = character == "█" || character == (y / scale % 2 == 0 ? "▀" : "▄")
            return isInk == inkIsDark
        }
    }

    var image: QRImage {
        QRImage(width: width, height: height, luminance: dark.map { $0 ? 0 : 255 })
    }
}
