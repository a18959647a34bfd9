import CSpng

/// Reads PNG images with libspng: every colour type and bit depth, interlaced or not, transparency laid over white.
enum PNGDecoder {
    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        try open(data, ignoresAdler: true) { context, header, fileBytes throws(QRCodecError) in
            try header.check(fileBytes: fileBytes, limits: limits)
            return try context.decodePixels(header)
        }
    }

    /// All pixels, three bytes each: red, green and blue. Transparency is left out.
    static func decodeColour(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> ColourImage {
        try open(data, ignoresAdler: false) { context, header, fileBytes throws(QRCodecError) in
            try header.check(fileBytes: fileBytes, limits: limits, bytesPerPixel: 3)
            return try context.decodeColour(header)
        }
    }

    private static func open<R>(
        _ data: [UInt8],
        ignoresAdler: Bool,
        _ body: (borrowing Context, PNGHeader, _ fileBytes: Int) throws(QRCodecError) -> R
    ) throws(QRCodecError) -> R {
        let context = try Context(ignoresAdler: ignoresAdler)
        // The context keeps the pointer, so all of its use lies within this closure.
        let result: Result<R, QRCodecError> = PNGChunks.withoutMetadata(data).withUnsafeBytes { bytes in
            Result { () throws(QRCodecError) in
                try context.open(bytes)
                return try body(context, try context.header(), bytes.count)
            }
        }
        return try result.get()
    }
}

/// Owns a libspng decoder.
private struct Context: ~Copyable {
    private let pointer: OpaquePointer

    /// - Parameter ignoresAdler: Whether the checksum inside the deflate stream is left alone, where time matters: the
    ///   chunks' own cover the same bytes.
    init(ignoresAdler: Bool) throws(QRCodecError) {
        guard let pointer = spng_ctx_new(ignoresAdler ? Int32(SPNG_CTX_IGNORE_ADLER32.rawValue) : 0) else {
            throw QRCodecError(.decoderFailed, message: "The PNG decoder could not be started.")
        }
        self.pointer = pointer
    }

    deinit { spng_ctx_free(pointer) }

    func open(_ bytes: UnsafeRawBufferPointer) throws(QRCodecError) {
        try check(spng_set_png_buffer(pointer, bytes.baseAddress, bytes.count))
    }

    func header() throws(QRCodecError) -> PNGHeader {
        var header = spng_ihdr()
        try check(spng_get_ihdr(pointer, &header))
        var transparency = spng_trns()
        var palette = spng_plte()
        let hasPalette = try checkPresence(spng_get_plte(pointer, &palette))
        let hasTransparency = try checkPresence(spng_get_trns(pointer, &transparency))
        return PNGHeader(
            header,
            palette: hasPalette ? palette : nil,
            transparency: hasTransparency ? transparency : nil
        )
    }

    func decodePixels(_ header: PNGHeader) throws(QRCodecError) -> DecodedImage {
        var image = QRImage(width: header.width, height: header.height, filledWith: 255)
        let layout = header.layout
        let flags = layout.flags.rawValue | SPNG_DECODE_PROGRESSIVE.rawValue
        try check(spng_decode_image(pointer, nil, 0, Int32(layout.format.rawValue), Int32(flags)))

        let width = header.width
        var row = [UInt8](repeating: 0, count: layout.rowBytes(width: width))
        var status: Int32 = 0
        image.luminance.withUnsafeMutableBufferPointer { pixels in
            row.withUnsafeMutableBufferPointer { row in
                while status == 0 {
                    var info = spng_row_info()
                    status = spng_get_row_info(pointer, &info)
                    guard status == 0 else { break }
                    status = spng_decode_scanline(pointer, row.baseAddress, row.count)
                    guard status == 0 || status == Int32(SPNG_EOI.rawValue) else { break }
                    let columns = header.columns(pass: Int(info.pass))
                    let target = UnsafeMutableBufferPointer(
                        rebasing: pixels[Int(info.row_num) * width..<(Int(info.row_num) + 1) * width]
                    )
                    layout.convert(row, to: target, start: columns.start, step: columns.step)
                }
            }
        }
        // What follows the pixels holds nothing of ours, but its absence or damage is worth telling.
        if status == Int32(SPNG_EOI.rawValue) { status = spng_decode_chunks(pointer) }
        return DecodedImage(image: image, damage: Self.failure(status))
    }

    func decodeColour(_ header: PNGHeader) throws(QRCodecError) -> ColourImage {
        var image = ColourImage(width: header.width, height: header.height)
        try check(spng_decode_image(pointer, &image.bytes, image.bytes.count, Int32(SPNG_FMT_RGB8.rawValue), 0))
        return image
    }

    private func check(_ status: Int32) throws(QRCodecError) {
        if let failure = Self.failure(status) { throw failure }
    }

    /// Whether a chunk is there that need not be.
    private func checkPresence(_ status: Int32) throws(QRCodecError) -> Bool {
        if status == Int32(SPNG_ECHUNKAVAIL.rawValue) { return false }
        try check(status)
        return true
    }

    private static func failure(_ status: Int32) -> QRCodecError? {
        switch status {
        case 0:
            return nil
        case SPNG_IO_EOF.rawValue, Int32(SPNG_EIDAT_TOO_SHORT.rawValue), Int32(SPNG_EOF.rawValue):
            return QRCodecError(.truncated, message: "The PNG image ends too early.")
        case Int32(SPNG_ECHUNK_LIMITS.rawValue), Int32(SPNG_EOVERFLOW.rawValue):
            return QRCodecError(.tooLarge, message: "The PNG image has more data than pairtool reads.")
        case Int32(SPNG_EMEM.rawValue):
            return QRCodecError(.decoderFailed, message: "There is not enough memory to read the PNG image.")
        default:
            return QRCodecError(
                .corrupt,
                message: "The PNG image is damaged: \(String(cString: spng_strerror(status)))."
            )
        }
    }
}
