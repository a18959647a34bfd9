import CTurboJPEG

/// Reads JPEG images with TurboJPEG: baseline and progressive; grey, YCbCr, RGB, CMYK and YCCK.
enum JPEGDecoder {
    /// The most pixels that are decoded one by one where fewer will do. Up to there decoding at half the size saves no
    /// time: nearly all of it goes into unpacking.
    private static let mostPixels = 24_000_000

    static func decode(_ data: [UInt8], limits: ImageLimits, mayReduce: Bool) throws(QRCodecError) -> DecodedImage {
        let decompressor = try Decompressor()
        let header = try decompressor.header(of: data)
        try limits.check(
            width: header.width,
            height: header.height,
            kind: "JPEG image",
            bytesPerPixel: header.workingBytesPerPixel
        )
        return header.isCMYK
            ? try decompressor.decodeCMYK(data, header: header)
            : try decompressor.decodeGrey(data, header: header, reduction: mayReduce ? reduction(of: header) : 1)
    }

    /// All pixels, three bytes each: red, green and blue; damaged ones are as far as they could be read.
    static func decodeColour(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> ColourImage {
        let decompressor = try Decompressor()
        let header = try decompressor.header(of: data)
        // Three bytes a pixel here, and up to six in the decoder, which keeps all coefficients of progressive images.
        try limits.check(width: header.width, height: header.height, kind: "JPEG image", bytesPerPixel: 9)
        return try decompressor.decodeColour(data, header: header)
    }

    /// TurboJPEG gives a half, a quarter or an eighth, as the mean of the pixels.
    private static func reduction(of header: JPEGHeader) -> Int {
        var reduction = 1
        while reduction < 8, header.width * header.height / reduction / reduction > mostPixels { reduction *= 2 }
        return reduction
    }
}

/// The properties of a JPEG image that its header gives.
private struct JPEGHeader {
    var width: Int
    var height: Int
    /// One of `TJSAMP`, or -1 for a layout without a name there; such images can be decoded all the same.
    var subsampling: Int32
    var isCMYK: Bool
    /// Whether one scan holds all of it; of others the decoder keeps all coefficients until the last.
    var isOneScan: Bool

    /// Luminance, the inks of a CMYK image, and the coefficients (2 bytes each) where they are kept.
    var workingBytesPerPixel: Int {
        if isCMYK { return 1 + 4 + (isOneScan ? 0 : 2 * 4) }
        if isOneScan { return 1 }
        return switch subsampling {
        case Int32(TJSAMP_GRAY.rawValue): 1 + 2
        case Int32(TJSAMP_420.rawValue), Int32(TJSAMP_411.rawValue): 1 + 3
        case Int32(TJSAMP_422.rawValue), Int32(TJSAMP_440.rawValue): 1 + 4
        default: 1 + 2 * 3
        }
    }
}

/// Owns a TurboJPEG decompressor.
private struct Decompressor: ~Copyable {
    private let handle: tjhandle

    init() throws(QRCodecError) {
        guard let handle = tjInitDecompress() else {
            throw QRCodecError(.decoderFailed, message: "The JPEG decoder could not be started.")
        }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    func header(of data: [UInt8]) throws(QRCodecError) -> JPEGHeader {
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(-1), Int32(-1))
        let status = tjDecompressHeader3(handle, data, UInt(data.count), &width, &height, &subsampling, &colours)
        // An uncommon subsampling is reported as a failure, but after the dimensions were set.
        guard width > 0, height > 0 else {
            throw failure(status) ?? QRCodecError(.corrupt, message: "The JPEG image has no pixels.")
        }
        return JPEGHeader(
            width: Int(width),
            height: Int(height),
            subsampling: subsampling,
            isCMYK: colours == TJCS_CMYK.rawValue || colours == TJCS_YCCK.rawValue,
            isOneScan: JPEGSegments.isOneScan(data)
        )
    }

    func decodeGrey(
        _ data: [UInt8],
        header: JPEGHeader,
        reduction: Int
    ) throws(QRCodecError) -> DecodedImage {
        // TJSCALED, which is a macro: rounded up.
        var image = QRImage(
            width: (header.width + reduction - 1) / reduction,
            height: (header.height + reduction - 1) / reduction,
            filledWith: 255
        )
        let (width, height) = (image.width, image.height)
        let damage = try decompress(data, into: &image.luminance, width: width, height: height, format: TJPF_GRAY)
        return DecodedImage(image: image, damage: damage, reduction: reduction)
    }

    /// The decoder gives the four inks as they are stored, and programs that write CMYK store them inverted, so that
    /// 255 is no ink; one that does not comes out as a negative, and inverted symbols are looked for anyway.
    func decodeCMYK(_ data: [UInt8], header: JPEGHeader) throws(QRCodecError) -> DecodedImage {
        var inks = [UInt8](repeating: 255, count: header.width * header.height * 4)
        let damage = try decompress(
            data,
            into: &inks,
            width: header.width,
            height: header.height,
            format: TJPF_CMYK
        )
        var image = QRImage(width: header.width, height: header.height, filledWith: 255)
        for index in image.luminance.indices {
            let grey = Luma.grey(red: inks[4 * index], green: inks[4 * index + 1], blue: inks[4 * index + 2])
            image.luminance[index] = UInt8(UInt32(grey) * UInt32(inks[4 * index + 3]) / 255)
        }
        return DecodedImage(image: image, damage: damage)
    }

    func decodeColour(_ data: [UInt8], header: JPEGHeader) throws(QRCodecError) -> ColourImage {
        var image = ColourImage(width: header.width, height: header.height)
        _ = try decompress(data, into: &image.bytes, width: image.width, height: image.height, format: TJPF_RGB)
        return image
    }

    /// Fills `pixels`.
    ///
    /// - Returns: What was wrong, where the decoder could go on regardless.
    private func decompress(
        _ data: [UInt8],
        into pixels: inout [UInt8],
        width: Int,
        height: Int,
        format: TJPF
    ) throws(QRCodecError) -> QRCodecError? {
        // The flag refuses images of hundreds of scans, each of which costs as much as a whole image.
        let status = tjDecompress2(
            handle,
            data,
            UInt(data.count),
            &pixels,
            Int32(width),
            0,
            Int32(height),
            Int32(format.rawValue),
            TJFLAG_LIMITSCANS
        )
        guard let failure = failure(status) else { return nil }
        guard tjGetErrorCode(handle) == TJERR_WARNING.rawValue else { throw failure }
        return failure
    }

    private func failure(_ status: Int32) -> QRCodecError? {
        guard status != 0 else { return nil }
        let reason = String(cString: tjGetErrorStr2(handle))
        let lowered = reason.lowercased()
        if lowered.contains("premature end") || lowered.contains("input file read error") {
            return QRCodecError(.truncated, message: "The JPEG image ends too early.")
        }
        if lowered.contains("maximum supported image dimension") {
            return QRCodecError(.tooLarge, message: "The JPEG image has a side of more than 65,500 pixels.")
        }
        if lowered.contains("insufficient memory") || lowered.contains("memory allocation") {
            return QRCodecError(.decoderFailed, message: "There is not enough memory to read the JPEG image.")
        }
        return QRCodecError(.corrupt, message: "The JPEG image is damaged: \(reason).")
    }
}
