import CGif

/// Reads the first picture of a GIF file with giflib, transparent pixels as white.
enum GIFDecoder {
    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        // The decoder keeps the pointer, so all of its use lies within this closure.
        let result: Result<DecodedImage, QRCodecError> = data.withUnsafeBufferPointer { bytes in
            Result { () throws(QRCodecError) in
                var source = GIFSource(rest: bytes)
                return try GIFFile.decode(&source, fileBytes: data.count, limits: limits)
            }
        }
        return try result.get()
    }
}

/// What is left to read.
private struct GIFSource {
    var rest: UnsafeBufferPointer<UInt8>
}

/// Called by giflib for more bytes.
private func readGIF(
    _ file: UnsafeMutablePointer<GifFileType>?,
    _ target: UnsafeMutablePointer<GifByteType>?,
    _ count: Int32
) -> Int32 {
    guard let target, let source = file?.pointee.UserData?.assumingMemoryBound(to: GIFSource.self) else { return 0 }
    let taken = min(Int(count), source.pointee.rest.count)
    if taken > 0, let start = source.pointee.rest.baseAddress { target.update(from: start, count: taken) }
    source.pointee.rest = UnsafeBufferPointer(rebasing: source.pointee.rest.dropFirst(taken))
    return Int32(taken)
}

/// Owns a giflib decoder.
private struct GIFFile: ~Copyable {
    private let file: UnsafeMutablePointer<GifFileType>
    /// The colour that stands for none, of the next picture.
    private var transparent: Int?

    static func decode(
        _ source: inout GIFSource,
        fileBytes: Int,
        limits: ImageLimits
    ) throws(QRCodecError) -> DecodedImage {
        let result: Result<DecodedImage, QRCodecError> = withUnsafeMutablePointer(to: &source) { source in
            Result { () throws(QRCodecError) in
                var decoder = try GIFFile(source)
                return try decoder.firstPicture(fileBytes: fileBytes, limits: limits)
            }
        }
        return try result.get()
    }

    private init(_ source: UnsafeMutablePointer<GIFSource>) throws(QRCodecError) {
        var code: Int32 = 0
        guard let file = DGifOpen(source, readGIF, &code) else { throw Self.failure(code) }
        self.file = file
    }

    deinit { DGifCloseFile(file, nil) }

    private mutating func firstPicture(fileBytes: Int, limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        while true {
            var kind = UNDEFINED_RECORD_TYPE
            try check(DGifGetRecordType(file, &kind))
            switch kind {
            case EXTENSION_RECORD_TYPE: try readExtension()
            case IMAGE_DESC_RECORD_TYPE: return try readPicture(fileBytes: fileBytes, limits: limits)
            default: throw QRCodecError(.corrupt, "The GIF file has no picture.")
            }
        }
    }

    private mutating func readExtension() throws(QRCodecError) {
        var code: Int32 = 0
        var block: UnsafeMutablePointer<GifByteType>?
        try check(DGifGetExtension(file, &code, &block))
        while let bytes = block {
            // The length comes first: flags, two bytes of delay, the transparent colour.
            if code == GRAPHICS_EXT_FUNC_CODE, bytes[0] >= 4 {
                transparent = bytes[1] & 1 == 1 ? Int(bytes[4]) : nil
            }
            try check(DGifGetExtensionNext(file, &block))
        }
    }

    private func readPicture(fileBytes: Int, limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        try check(DGifGetImageDesc(file))
        let frame = file.pointee.Image
        let (width, height) = (Int(frame.Width), Int(frame.Height))
        guard width > 0, height > 0 else { throw QRCodecError(.corrupt, "The GIF image has no pixels.") }
        try limits.check(width: width, height: height, kind: "GIF image", bytesPerPixel: 1)
        // A code of at least three bits makes at most 4,096 pixels.
        guard width * height / 4_096 / 3 <= fileBytes else {
            throw QRCodecError(.truncated, "The GIF image claims far more pixels than its \(fileBytes) bytes can hold.")
        }
        let shades = Self.shades(of: frame.ColorMap ?? file.pointee.SColorMap, transparent: transparent)
        var image = QRImage(width: width, height: height, filledWith: 255)
        var row = [UInt8](repeating: 0, count: width)
        let passes = frame.Interlace ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
        for (start, step) in passes {
            for y in stride(from: start, to: height, by: step) {
                guard DGifGetLine(file, &row, Int32(width)) == GIF_OK else {
                    return DecodedImage(image: image, damage: Self.failure(file.pointee.Error))
                }
                for x in 0..<width { image.luminance[y * width + x] = shades[Int(row[x])] }
            }
        }
        return DecodedImage(image: image)
    }

    /// The shade of every colour; those beyond the palette are white.
    private static func shades(of map: UnsafeMutablePointer<ColorMapObject>?, transparent: Int?) -> [UInt8] {
        var shades = [UInt8](repeating: 255, count: 256)
        if let map, let colours = map.pointee.Colors {
            for index in 0..<min(256, Int(map.pointee.ColorCount)) {
                let colour = colours[index]
                shades[index] = Luma.grey(red: colour.Red, green: colour.Green, blue: colour.Blue)
            }
        }
        if let transparent { shades[transparent] = 255 }
        return shades
    }

    private func check(_ status: Int32) throws(QRCodecError) {
        guard status == GIF_OK else { throw Self.failure(file.pointee.Error) }
    }

    private static func failure(_ code: Int32) -> QRCodecError {
        switch code {
        case D_GIF_ERR_READ_FAILED, D_GIF_ERR_EOF_TOO_SOON, D_GIF_ERR_NO_SCRN_DSCR:
            return QRCodecError(.truncated, "The GIF image ends too early.")
        case D_GIF_ERR_NOT_ENOUGH_MEM:
            return QRCodecError(.decoderFailed, "There is not enough memory to read the GIF image.")
        default:
            let reason = GifErrorString(code).map { String(cString: $0) } ?? "error \(code)"
            return QRCodecError(.corrupt, "The GIF image is damaged: \(reason).")
        }
    }
}
