import CSpng

/// The properties of a PNG image that its header gives.
struct PNGHeader {
    let width: Int
    let height: Int
    let layout: PNGLayout
    private let isInterlaced: Bool
    private let bitsPerPixel: Int

    /// - Parameters:
    ///   - palette: The colours of an indexed image.
    ///   - transparency: The `tRNS` chunk, if there is one.
    init(_ header: spng_ihdr, palette: spng_plte?, transparency: spng_trns?) {
        width = Int(header.width)
        height = Int(header.height)
        isInterlaced = header.interlace_method != 0
        let depth = Int(header.bit_depth)
        switch (UInt32(header.color_type), palette) {
        case (SPNG_COLOR_TYPE_INDEXED.rawValue, let palette?):
            bitsPerPixel = depth
            layout = .indexed(bits: depth, palette: palette, transparency: transparency)
        case (SPNG_COLOR_TYPE_TRUECOLOR.rawValue, _):
            bitsPerPixel = 3 * depth
            layout = transparency == nil ? .rgb : .rgba
        case (SPNG_COLOR_TYPE_GRAYSCALE_ALPHA.rawValue, _):
            bitsPerPixel = 2 * depth
            layout = .rgba
        case (SPNG_COLOR_TYPE_TRUECOLOR_ALPHA.rawValue, _):
            bitsPerPixel = 4 * depth
            layout = .rgba
        default:
            bitsPerPixel = depth
            // Only up to eight bits does libspng give grey as grey.
            layout = transparency != nil ? .rgba : depth <= 8 ? .grey : .rgb
        }
    }

    /// Refuses what is too large, and what the file cannot hold: deflate makes at most 1,032 bytes of one
    /// (a match of 258 bytes takes at least two bits), so a short file with a huge claim costs no memory.
    ///
    /// - Parameter bytesPerPixel: What is held for one pixel while decoding. Default: 1, its luminance.
    func check(fileBytes: Int, limits: ImageLimits, bytesPerPixel: Int = 1) throws(QRCodecError) {
        try limits.check(width: width, height: height, kind: "PNG image", bytesPerPixel: bytesPerPixel)
        let unpacked = height * ((width * bitsPerPixel + 7) / 8)
        guard unpacked / 1_032 <= fileBytes else {
            throw QRCodecError(
                .truncated,
                message:
                    "The PNG image claims \(width) × \(height) pixels, far more than its \(fileBytes) bytes can hold."
            )
        }
    }

    /// Returns the column at which the rows of a pass begin, and the distance of their pixels (PNG specification, third
    /// edition, 8.1: Adam7).
    func columns(pass: Int) -> (start: Int, step: Int) {
        guard isInterlaced else { return (0, 1) }
        return ([0, 4, 0, 2, 0, 1, 0][pass], [8, 8, 4, 4, 2, 2, 1][pass])
    }
}
