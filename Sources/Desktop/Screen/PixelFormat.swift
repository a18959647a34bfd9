import QRCodec

/// How a screen's pixels lie in memory (X Window System Protocol, GetImage with ZPixmap).
struct PixelFormat: Sendable, Hashable {
    /// The position of a colour within a pixel.
    private struct Channel: Hashable {
        var shift: Int
        var most: UInt32

        init?(_ mask: UInt32) {
            shift = mask.trailingZeroBitCount
            guard mask != 0, mask >> UInt32(shift) < 1 << 24 else { return nil }
            most = mask >> UInt32(shift)
        }

        @inline(__always)
        func shade(_ pixel: UInt32) -> UInt32 {
            let value = (pixel >> UInt32(truncatingIfNeeded: shift)) & most
            return most == 255 ? value : value * 255 / most
        }
    }

    private let bytesPerPixel: Int
    private let rowAlignment: Int
    private let isLittleEndian: Bool
    private let red: Channel
    private let green: Channel
    private let blue: Channel

    /// - Parameters:
    ///   - bitsPerPixel: 16, 24 or 32.
    ///   - rowAlignment: Rows begin at multiples of so many bits.
    ///   - red: The bits of a pixel that say how red it is.
    /// - Returns: nil for other sizes, for colours of more than 24 bits, and where they come from a palette.
    init?(
        bitsPerPixel: Int,
        rowAlignment: Int,
        isLittleEndian: Bool,
        red: UInt32,
        green: UInt32,
        blue: UInt32
    ) {
        guard [16, 24, 32].contains(bitsPerPixel), [8, 16, 32].contains(rowAlignment),
            let red = Channel(red), let green = Channel(green), let blue = Channel(blue)
        else { return nil }
        bytesPerPixel = bitsPerPixel / 8
        self.rowAlignment = rowAlignment / 8
        self.isLittleEndian = isLittleEndian
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// The picture in shades of grey (ITU-R BT.601); nil where there are too few bytes.
    func image(_ bytes: UnsafeRawBufferPointer, width: Int, height: Int) -> QRImage? {
        let row = (width * bytesPerPixel + rowAlignment - 1) / rowAlignment * rowAlignment
        guard width > 0, height > 0, bytes.count >= row * (height - 1) + width * bytesPerPixel else { return nil }
        let luminance = [UInt8](unsafeUninitializedCapacity: width * height) { target, count in
            var place = 0
            for y in 0..<height {
                var source = y * row
                for _ in 0..<width {
                    let pixel = pixel(bytes, at: source)
                    let sum = 77 * red.shade(pixel) + 150 * green.shade(pixel) + 29 * blue.shade(pixel) + 128
                    target[place] = UInt8(truncatingIfNeeded: sum >> 8)
                    place += 1
                    source += bytesPerPixel
                }
            }
            count = place
        }
        return QRImage(width: width, height: height, luminance: luminance)
    }

    @inline(__always)
    private func pixel(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        var pixel: UInt32 = 0
        for index in 0..<bytesPerPixel {
            let byte = UInt32(bytes[place + index])
            pixel |= byte << UInt32(8 * (isLittleEndian ? index : bytesPerPixel - 1 - index))
        }
        return pixel
    }
}
