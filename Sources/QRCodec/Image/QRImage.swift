/// A picture in 256 shades of grey, row by row from the top, without padding.
package struct QRImage: Sendable, Hashable {
    /// Pixels a row.
    package let width: Int
    /// Rows.
    package let height: Int
    /// One byte a pixel, 0 black to 255 white; `width * height` of them.
    package internal(set) var luminance: [UInt8]

    /// - Precondition: `luminance` has exactly `width * height` bytes, and neither is negative.
    package init(width: Int, height: Int, luminance: [UInt8]) {
        precondition(width >= 0 && height >= 0 && luminance.count == width * height, "as many bytes as pixels")
        self.width = width
        self.height = height
        self.luminance = luminance
    }

    /// A picture of one shade.
    init(width: Int, height: Int, filledWith shade: UInt8) {
        self.init(width: width, height: height, luminance: [UInt8](repeating: shade, count: width * height))
    }
}

/// A place in a picture, in pixels from its top left corner.
package struct Point: Sendable, Hashable {
    /// The column, from 0.
    package var x: Int
    /// The row, from 0 at the top.
    package var y: Int

    init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

extension QRImage {
    /// The picture with each pixel drawn `factor` times in both directions, in a white frame of `margin` pixels:
    /// for symbols of one pixel a module, or cut out without their quiet zone.
    func enlarged(by factor: Int, margin: Int) -> QRImage {
        let newWidth = width * factor + 2 * margin
        var result = QRImage(width: newWidth, height: height * factor + 2 * margin, filledWith: 255)
        guard width > 0, factor > 0 else { return result }
        luminance.withUnsafeBufferPointer { source in
            result.luminance.withUnsafeMutableBufferPointer { target in
                for y in 0..<height {
                    let start = (y * factor + margin) * newWidth + margin
                    var end = start
                    for shade in source[(y * width)..<((y + 1) * width)] {
                        target[end..<(end + factor)].update(repeating: shade)
                        end += factor
                    }
                    for copy in 1..<factor {
                        let row = start + copy * newWidth
                        _ = target[row..<(row + end - start)].update(fromContentsOf: target[start..<end])
                    }
                }
            }
        }
        return result
    }
}
