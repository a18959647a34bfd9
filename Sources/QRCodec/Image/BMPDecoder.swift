/// Reads BMP images: palettes, true colour and bit fields, plain or as run lengths. Opacity is not looked at: most
/// programs leave it at zero.
enum BMPDecoder {
    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        let header = try BMPHeader(data)
        try limits.check(width: header.width, height: header.height, kind: "BMP image", bytesPerPixel: 1)
        let stride = (header.width * header.bits + 31) / 32 * 4
        if case .plain = header.packing {
            // At least a quarter must be there: a short file with a huge claim costs no memory.
            guard stride * header.height / 4 <= data.count else {
                throw QRCodecError(
                    .truncated,
                    "The BMP image claims \(header.width) × \(header.height) pixels, far more than its \(data.count) bytes hold."
                )
            }
        } else {
            // Two bytes make at most 255 pixels.
            guard header.width * header.height / 128 <= data.count else {
                throw QRCodecError(
                    .truncated,
                    "The BMP image claims far more pixels than its \(data.count) bytes can hold."
                )
            }
        }
        var image = QRImage(width: header.width, height: header.height, filledWith: 255)
        var isWhole = true
        image.luminance.withUnsafeMutableBufferPointer { pixels in
            switch header.packing {
            case .plain: isWhole = plain(data, header, stride: stride, into: pixels)
            case .runs: isWhole = runs(data, header, into: pixels)
            }
        }
        let damage = isWhole ? nil : QRCodecError(.truncated, "The BMP image ends too early.")
        return DecodedImage(image: image, damage: damage)
    }

    private static func plain(
        _ data: [UInt8],
        _ header: BMPHeader,
        stride: Int,
        into pixels: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let channels = [header.masks.red, header.masks.green, header.masks.blue].map(Channel.init)
        for line in 0..<header.height {
            let start = header.offset + line * stride
            guard start + stride <= data.count else { return false }
            let row = (header.isTopDown ? line : header.height - 1 - line) * header.width
            for x in 0..<header.width {
                pixels[row + x] =
                    switch header.bits {
                    case 1: header.palette[Int(data[start + x / 8] >> UInt8(7 - x % 8) & 1)]
                    case 4: header.palette[Int(data[start + x / 2] >> (x % 2 == 0 ? 4 : 0) & 15)]
                    case 8: header.palette[Int(data[start + x])]
                    case 24:
                        Luma.grey(
                            red: data[start + 3 * x + 2],
                            green: data[start + 3 * x + 1],
                            blue: data[start + 3 * x]
                        )
                    default: packed(data, at: start + x * header.bits / 8, bytes: header.bits / 8, channels)
                    }
            }
        }
        return true
    }

    private static func packed(_ data: [UInt8], at place: Int, bytes: Int, _ channels: [Channel]) -> UInt8 {
        var value = UInt32(data[place]) | UInt32(data[place + 1]) << 8
        if bytes == 4 { value |= UInt32(data[place + 2]) << 16 | UInt32(data[place + 3]) << 24 }
        return Luma.grey(red: channels[0].of(value), green: channels[1].of(value), blue: channels[2].of(value))
    }

    /// Some neighbouring bits of a pixel.
    private struct Channel {
        let shift: UInt32
        let most: UInt32

        init(mask: UInt32) {
            shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
            most = mask >> shift
        }

        func of(_ pixel: UInt32) -> UInt8 {
            most == 0 ? 0 : UInt8(truncatingIfNeeded: min(UInt64(pixel >> shift & most) * 255 / UInt64(most), 255))
        }
    }

    /// Run lengths: a count and a colour; or nought and then 0 end of line, 1 end of picture, 2 a step, n so many
    /// pixels.
    private static func runs(
        _ data: [UInt8],
        _ header: BMPHeader,
        into pixels: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        var (x, line, place) = (0, 0, header.offset)
        func put(_ colour: UInt8) {
            if x < header.width, line < header.height {
                let row = header.isTopDown ? line : header.height - 1 - line
                pixels[row * header.width + x] = header.palette[Int(colour) & (header.palette.count - 1)]
            }
            x += 1
        }
        while line < header.height, place >= 0, place + 2 <= data.count {
            let (count, value) = (Int(data[place]), data[place + 1])
            place += 2
            if count > 0 {
                for index in 0..<count {
                    put(header.bits == 8 ? value : index % 2 == 0 ? value >> 4 : value & 15)
                }
                continue
            }
            switch value {
            case 0: (x, line) = (0, line + 1)
            case 1: return true
            case 2:
                guard place + 2 <= data.count else { return false }
                (x, line) = (x + Int(data[place]), line + Int(data[place + 1]))
                place += 2
            default:
                let bytes = header.bits == 8 ? Int(value) : (Int(value) + 1) / 2
                guard place + bytes <= data.count else { return false }
                for index in 0..<Int(value) {
                    let byte = data[place + (header.bits == 8 ? index : index / 2)]
                    put(header.bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15)
                }
                // They end on an even place.
                place += bytes + bytes % 2
            }
        }
        return line >= header.height
    }
}
