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
        let small = full.scaled(width: width, height: height)
        pixels = (0..<width * height).map { small.colour(at: $0) }
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

    fileprivate func colour(at pixel: Int) -> ColourPreview.Colour {
        .init(red: bytes[pixel * 3], green: bytes[pixel * 3 + 1], blue: bytes[pixel * 3 + 2])
    }

    /// A copy of another size, which is no larger, each pixel the mean of those that it stands for.
    func scaled(width newWidth: Int, height newHeight: Int) -> ColourImage {
        guard newWidth < width || newHeight < height else { return self }
        var small = ColourImage(width: newWidth, height: newHeight)
        for y in 0..<newHeight {
            let top = y * height / newHeight
            let bottom = max(top + 1, (y + 1) * height / newHeight)
            for x in 0..<newWidth {
                let left = x * width / newWidth
                let right = max(left + 1, (x + 1) * width / newWidth)
                let mean = mean(columns: left..<right, rows: top..<bottom)
                let start = (y * newWidth + x) * 3
                (small.bytes[start], small.bytes[start + 1], small.bytes[start + 2]) = mean
            }
        }
        return small
    }

    private func mean(columns: Range<Int>, rows: Range<Int>) -> (red: UInt8, green: UInt8, blue: UInt8) {
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
        return (UInt8(red / count), UInt8(green / count), UInt8(blue / count))
    }
}
