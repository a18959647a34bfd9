/// A QR code that was found in a picture.
package struct ScannedSymbol: Sendable, Hashable {
    /// The bytes of its message, as they were encoded.
    package var bytes: [UInt8]
    /// Its four corners in the picture as it was given, beginning with the symbol's own top left one and going
    /// down its left side first; empty where they are not known.
    package var corners: [Point]

    /// The bytes as text, or `nil` where they are not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    init(bytes: [UInt8], corners: [Point] = []) {
        self.bytes = bytes
        self.corners = corners
    }

    /// Its top left place, row first, to sort by.
    var position: (Int, Int) { (corners.map(\.y).min() ?? 0, corners.map(\.x).min() ?? 0) }

    /// The same in a picture so many times as large.
    func enlarged(by factor: Int) -> ScannedSymbol {
        ScannedSymbol(bytes: bytes, corners: corners.map { Point(x: $0.x * factor, y: $0.y * factor) })
    }
}
