import CHEIF

/// Reads HEIC images, as iPhones take them, with libheif.
enum HEIFDecoder {
    /// Luminance and colours of up to sixteen bits in the decoder, again as a whole image of its tiles, and ours.
    private static let bytesPerPixel = 3 + 3 + 1

    /// The longest side of a coding block (ITU-T H.265, 7.4.3.2.1).
    private static let codingBlock = 64

    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        guard let library = HEIFLibrary.installed else {
            throw QRCodecError(
                .missingLibrary,
                "To read HEIC images, libheif is needed and not installed (on Debian and Ubuntu: apt install libheif1)."
            )
        }
        // The context keeps the pointer, so all of its use lies within this closure.
        let result: Result<DecodedImage, QRCodecError> = data.withUnsafeBytes { bytes in
            Result { () throws(QRCodecError) in try decode(bytes, with: library, limits: limits) }
        }
        return try result.get()
    }

    private static func decode(
        _ bytes: UnsafeRawBufferPointer,
        with library: HEIFLibrary,
        limits: ImageLimits
    ) throws(QRCodecError) -> DecodedImage {
        guard let context = library.makeContext() else {
            throw QRCodecError(.decoderFailed, "The HEIC decoder could not be started.")
        }
        defer { library.freeContext(context) }
        try check(library.read(context, bytes.baseAddress, bytes.count, nil))
        var handle: OpaquePointer?
        try check(library.primary(context, &handle))
        guard let handle else { throw QRCodecError(.corrupt, "The HEIC file has no picture.") }
        defer { library.freeHandle(handle) }
        let (width, height) = (Int(library.width(handle)), Int(library.height(handle)))
        guard width > 0, height > 0 else { throw QRCodecError(.corrupt, "The HEIC image has no pixels.") }
        try limits.check(width: width, height: height, kind: "HEIC image", bytesPerPixel: bytesPerPixel)
        // What is decoded must be no larger than what the header said, but for the coding blocks at its edges.
        library.limitSides(context, Int32(max(width, height) + codingBlock))
        var decoded: OpaquePointer?
        try check(library.decode(handle, &decoded, heif_colorspace_YCbCr, heif_chroma_420, nil))
        guard let decoded else { throw QRCodecError(.corrupt, "The HEIC image cannot be decoded.") }
        defer { library.freeImage(decoded) }
        return try luminance(of: decoded, with: library, limits: limits)
    }

    private static func luminance(
        of decoded: OpaquePointer,
        with library: HEIFLibrary,
        limits: ImageLimits
    ) throws(QRCodecError) -> DecodedImage {
        let width = Int(library.planeWidth(decoded, heif_channel_Y))
        let height = Int(library.planeHeight(decoded, heif_channel_Y))
        let bits = Int(library.bits(decoded, heif_channel_Y))
        var stride: Int32 = 0
        guard width > 0, height > 0, (8...16).contains(bits),
            let plane = library.plane(decoded, heif_channel_Y, &stride)
        else { throw QRCodecError(.corrupt, "The HEIC image has no luminance.") }
        try limits.check(width: width, height: height, kind: "HEIC image", bytesPerPixel: 1)
        var image = QRImage(width: width, height: height, filledWith: 255)
        image.luminance.withUnsafeMutableBufferPointer { target in
            for y in 0..<height {
                let row = plane + y * Int(stride)
                for x in 0..<width {
                    // More than eight bits come as two bytes, in the machine's order.
                    target[y * width + x] =
                        bits == 8
                        ? row[x]
                        : UInt8(truncatingIfNeeded: (UInt16(row[2 * x]) | UInt16(row[2 * x + 1]) << 8) >> (bits - 8))
                }
            }
        }
        return DecodedImage(image: image)
    }

    private static func check(_ error: heif_error) throws(QRCodecError) {
        guard error.code != heif_error_Ok else { return }
        let reason = error.message.map { String(cString: $0) } ?? "unknown"
        if error.subcode == heif_suberror_End_of_data {
            throw QRCodecError(.truncated, "The HEIC image ends too early.")
        }
        if error.code == heif_error_Memory_allocation_error {
            throw error.subcode == heif_suberror_Security_limit_exceeded
                ? QRCodecError(.tooLarge, "The HEIC image needs more memory than it may: \(reason).")
                : QRCodecError(.decoderFailed, "There is not enough memory to read the HEIC image.")
        }
        if error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype {
            throw QRCodecError(.unsupportedFormat, "The HEIC image is of a kind that libheif cannot read: \(reason).")
        }
        throw QRCodecError(.corrupt, "The HEIC image is damaged: \(reason).")
    }
}
