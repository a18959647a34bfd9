/// A small copy of a picture in colour, to be drawn in a terminal.
package struct ColourPreview: Sendable, Hashable {
    /// A colour, 0…255 each.
    package struct Colour: Sendable, Hashable {
        package var red: UInt8
        package var green: UInt8
        package var blue: UInt8
    }

    /// Pixels a row.
    package let width: Int
    /// Rows.
    package let height: Int
    /// Row by row from the top.
    private let pixels: [Colour]

    /// The colour of the pixel in a column and a row, both from 0.
    package subscript(_ x: Int, _ y: Int) -> Colour { pixels[y * width + x] }

    /// Reads a PNG or JPEG image and makes it small, each pixel the mean of those that it stands for.
    ///
    /// - Parameters:
    ///   - columns: The most pixels a row; 1 or more.
    ///   - rows: The most rows; 1 or more.
    ///   - limits: Checked before memory is asked for.
    /// - Throws: ``QRCodecError``.
    package init(
        _ data: [UInt8],
        columns: Int,
        rows: Int,
        limits: ImageLimits = .default
    ) throws(QRCodecError) {
        let full =
            switch ImageFormat(data) {
            case .png: try PNGDecoder.decodeColour(data, limits: limits)
            case .jpeg: try JPEGDecoder.decodeColour(data, limits: limits)
            default:
                throw QRCodecError(.unsupportedFormat, message: "Only PNG and JPEG images can be drawn here.")
            }
        // Both sides by the same factor, and never larger than it is.
        let scale = min(1, Double(max(1, columns)) / Double(full.width), Double(max(1, rows)) / Double(full.height))
        width = max(1, Int((Double(full.width) * scale).rounded(.down)))
        height = max(1, Int((Double(full.height) * scale).rounded(.down)))
        var pixels: [Colour] = []
        pixels.reserveCapacity(width * height)
        for y in 0..<height {
            let top = y * full.height / height
            let bottom = max(top + 1, (y + 1) * full.height / height)
            for x in 0..<width {
                let left = x * full.width / width
                let right = max(left + 1, (x + 1) * full.width / width)
                pixels.append(full.mean(columns: left..<right, rows: top..<bottom))
            }
        }
        self.pixels = pixels
    }
}

/// All pixels of a picture, row by row from the top, three bytes each: red, green and blue.
struct ColourImage {
    let width: Int
    let height: Int
    var bytes: [UInt8]

    /// A black one.
    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        bytes = [UInt8](repeating: 0, count: width * height * 3)
    }

    func mean(columns: Range<Int>, rows: Range<Int>) -> ColourPreview.Colour {
        var (red, green, blue) = (0, 0, 0)
        for y in rows {
            for x in columns {
                let start = (y * width + x) * 3
                red += Int(bytes[start])
                green += Int(bytes[start + 1])
                blue += Int(bytes[start + 2])
            }
        }
        let count = columns.count * rows.count
        return .init(red: UInt8(red / count), green: UInt8(green / count), blue: UInt8(blue / count))
    }
}
