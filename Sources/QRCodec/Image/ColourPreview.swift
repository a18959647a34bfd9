import CSpng
import CTurboJPEG

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
            case .png: try FullColour.png(data, limits: limits)
            case .jpeg: try FullColour.jpeg(data, limits: limits)
            default:
                throw QRCodecError(.unsupportedFormat, "Only PNG and JPEG images can be drawn here.")
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

/// All pixels of a picture, three bytes each.
private struct FullColour {
    let width: Int
    let height: Int
    let bytes: [UInt8]

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

    static func png(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> FullColour {
        guard let context = spng_ctx_new(0) else {
            throw QRCodecError(.decoderFailed, "The PNG decoder could not be started.")
        }
        defer { spng_ctx_free(context) }
        let result: Result<FullColour, QRCodecError> = PNGChunks.withoutMetadata(data).withUnsafeBytes { buffer in
            Result { () throws(QRCodecError) in
                var header = spng_ihdr()
                guard spng_set_png_buffer(context, buffer.baseAddress, buffer.count) == 0,
                    spng_get_ihdr(context, &header) == 0
                else { throw QRCodecError(.corrupt, "The PNG image is damaged.") }
                let (width, height) = (Int(header.width), Int(header.height))
                try limits.check(width: width, height: height, kind: "PNG image", bytesPerPixel: 3)
                // Deflate makes at most 1,032 bytes of one.
                guard width * height / 8 / 1_032 <= buffer.count else {
                    throw QRCodecError(.truncated, "The PNG image claims far more pixels than it can hold.")
                }
                var bytes = [UInt8](repeating: 0, count: width * height * 3)
                guard spng_decode_image(context, &bytes, bytes.count, Int32(SPNG_FMT_RGB8.rawValue), 0) == 0 else {
                    throw QRCodecError(.corrupt, "The PNG image is damaged.")
                }
                return FullColour(width: width, height: height, bytes: bytes)
            }
        }
        return try result.get()
    }

    static func jpeg(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> FullColour {
        guard let decoder = tjInitDecompress() else {
            throw QRCodecError(.decoderFailed, "The JPEG decoder could not be started.")
        }
        defer { tjDestroy(decoder) }
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(-1), Int32(-1))
        _ = tjDecompressHeader3(decoder, data, UInt(data.count), &width, &height, &subsampling, &colours)
        guard width > 0, height > 0 else { throw QRCodecError(.corrupt, "The JPEG image has no pixels.") }
        // Three bytes a pixel here, and up to six in the decoder, which keeps all coefficients of progressive images.
        try limits.check(width: Int(width), height: Int(height), kind: "JPEG image", bytesPerPixel: 9)
        var bytes = [UInt8](repeating: 0, count: Int(width) * Int(height) * 3)
        let status = tjDecompress2(
            decoder,
            data,
            UInt(data.count),
            &bytes,
            width,
            0,
            height,
            Int32(TJPF_RGB.rawValue),
            TJFLAG_LIMITSCANS
        )
        guard status == 0 || tjGetErrorCode(decoder) == TJERR_WARNING.rawValue else {
            throw QRCodecError(.corrupt, "The JPEG image is damaged.")
        }
        return FullColour(width: Int(width), height: Int(height), bytes: bytes)
    }
}
