import CSpng

extension QRSymbol {
    /// The most pixels a side of a drawing.
    private static let maxSide = 32_768

    /// A PNG image, black on white, one bit a pixel.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module, at least 1.
    ///   - quietZone: Light modules on each side, at least 0. The standard wants 4.
    /// - Throws: ``QRCodecError`` with the code `tooLarge` beyond 32,768 pixels a side, or `encoderFailed`, also
    ///   where what was drawn does not read back.
    package func png(scale: Int = 8, quietZone: Int = 4) throws(QRCodecError) -> [UInt8] {
        let scale = max(1, scale)
        let quiet = max(0, quietZone)
        guard scale <= Self.maxSide, quiet <= Self.maxSide, (size + 2 * quiet) * scale <= Self.maxSide else {
            throw QRCodecError(.tooLarge, "A drawing of more than \(Self.maxSide) pixels a side is of no use.")
        }
        let side = (size + 2 * quiet) * scale
        let encoder = try PNGEncoder()
        try encoder.begin(side: side)
        let blank = [UInt8](repeating: 0xFF, count: (side + 7) / 8)
        for _ in 0..<quiet * scale { try encoder.append(blank) }
        for y in 0..<size {
            var row = blank
            for run in darkRuns(row: y) {
                for pixel in (run.lowerBound + quiet) * scale..<(run.upperBound + quiet) * scale {
                    row[pixel >> 3] &= ~(0x80 >> (pixel & 7))
                }
            }
            for _ in 0..<scale { try encoder.append(row) }
        }
        for _ in 0..<quiet * scale { try encoder.append(blank) }
        let file = try encoder.finish()
        // However large it is: it is our own.
        let limits = ImageLimits(maxFileBytes: .max, maxPixels: .max, maxWorkingBytes: .max)
        guard let drawn = try? PNGDecoder.decode(file, limits: limits).image else { throw QRProof.unreadable }
        let middle = scale / 2
        try QRProof.check(self) { x, y in
            let (column, row) = ((x + quiet) * scale + middle, (y + quiet) * scale + middle)
            guard column >= 0, row >= 0, column < drawn.width, row < drawn.height else { return false }
            return drawn.luminance[row * drawn.width + column] < 128
        }
        return file
    }
}

/// Owns a libspng encoder of a square image of one bit a pixel.
private struct PNGEncoder: ~Copyable {
    private let pointer: OpaquePointer

    init() throws(QRCodecError) {
        guard let pointer = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else {
            throw QRCodecError(.encoderFailed, "The PNG encoder could not be started.")
        }
        self.pointer = pointer
    }

    deinit { spng_ctx_free(pointer) }

    /// Writes the header.
    func begin(side: Int) throws(QRCodecError) {
        // Equal rows after one another: the fastest level packs them as well as a slow one, without any filter.
        try Self.check(spng_set_option(pointer, SPNG_ENCODE_TO_BUFFER, 1))
        try Self.check(spng_set_option(pointer, SPNG_IMG_COMPRESSION_LEVEL, 1))
        try Self.check(spng_set_option(pointer, SPNG_FILTER_CHOICE, Int32(SPNG_DISABLE_FILTERING.rawValue)))
        var header = spng_ihdr()
        header.width = UInt32(side)
        header.height = UInt32(side)
        header.bit_depth = 1
        header.color_type = UInt8(SPNG_COLOR_TYPE_GRAYSCALE.rawValue)
        try Self.check(spng_set_ihdr(pointer, &header))
        let flags = SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue
        try Self.check(spng_encode_image(pointer, nil, 0, Int32(SPNG_FMT_PNG.rawValue), Int32(flags)))
    }

    /// Adds the next row from the top.
    func append(_ row: [UInt8]) throws(QRCodecError) {
        let status = spng_encode_scanline(pointer, row, row.count)
        // The last row is answered with "end of image".
        if status != Int32(SPNG_EOI.rawValue) { try Self.check(status) }
    }

    /// The file, after the last row.
    func finish() throws(QRCodecError) -> [UInt8] {
        var (length, status) = (0, Int32(0))
        guard let buffer = spng_get_png_buffer(pointer, &length, &status) else {
            try Self.check(status)
            throw QRCodecError(.encoderFailed, "The PNG image could not be made.")
        }
        defer { free(buffer) }
        return Array(UnsafeRawBufferPointer(start: buffer, count: length))
    }

    private static func check(_ status: Int32) throws(QRCodecError) {
        guard status == 0 else {
            let reason = String(cString: spng_strerror(status))
            throw QRCodecError(.encoderFailed, "The PNG image could not be made: \(reason).")
        }
    }
}
