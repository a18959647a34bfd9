import CHEIF

/// Reads HEIC images, as iPhones take them, with libheif.
enum HEIFDecoder {
    /// Luminance and colours in the decoder, again as a whole image of its tiles, and what is made of that for us;
    /// where a channel has more than eight bits, in two bytes each.
    private static func bytesPerPixel(bits: Int) -> Int { bits > 8 ? 6 + 6 + 3 : 3 + 3 + 1 }

    /// The longest side of a coding block (ITU-T H.265, 7.4.3.2.1).
    private static let codingBlock = 64

    /// Tiles that libheif decodes at a time.
    private static let tilesAtOnce = 4

    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        guard let library = HEIFLibrary.installed else {
            throw QRCodecError(
                .missingLibrary,
                message:
                    "HEIC images need libheif, which is not installed (on Debian and Ubuntu: apt install libheif1)."
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
            throw QRCodecError(.decoderFailed, message: "The HEIC decoder could not be started.")
        }
        defer { library.freeContext(context) }
        let pictures = try HEIFPictures(bytes)
        let bytesPerPixel = bytesPerPixel(bits: pictures.sizes.map(\.bits).max() ?? 8)
        try check(pictures, limits: limits, bytesPerPixel: bytesPerPixel)
        try check(library.read(context, bytes.baseAddress, bytes.count, nil))
        var handle: OpaquePointer?
        try check(library.primary(context, &handle))
        guard let handle else { throw QRCodecError(.corrupt, message: "The HEIC file has no picture.") }
        defer { library.freeHandle(handle) }
        let (width, height) = (Int(library.width(handle)), Int(library.height(handle)))
        guard width > 0, height > 0 else { throw QRCodecError(.corrupt, message: "The HEIC image has no pixels.") }
        try limits.check(width: width, height: height, kind: "HEIC image", bytesPerPixel: bytesPerPixel)
        let side = max(width, height)
        try check(side: side, width: width, height: height, limits: limits, bytesPerPixel: bytesPerPixel)
        // What is put together must be no larger than what the header said, but for the coding blocks at its edges.
        library.limitSides(context, Int32(side + codingBlock))
        var decoded: OpaquePointer?
        try check(library.decode(handle, &decoded, heif_colorspace_YCbCr, heif_chroma_420, nil))
        guard let decoded else { throw QRCodecError(.corrupt, message: "The HEIC image cannot be decoded.") }
        defer { library.freeImage(decoded) }
        return try luminance(of: decoded, with: library, limits: limits)
    }

    /// Refuses coded pictures that would take too much memory, whatever the file says of them.
    private static func check(
        _ pictures: HEIFPictures,
        limits: ImageLimits,
        bytesPerPixel: Int
    ) throws(QRCodecError) {
        let coded = ImageLimits(maxPixels: .max, maxWorkingBytes: limits.maxWorkingBytes)
        let bytes = bytesPerPixel * (pictures.hasTiles ? tilesAtOnce : 1)
        for size in pictures.sizes {
            try coded.check(width: size.width, height: size.height, kind: "HEIC image", bytesPerPixel: bytes)
        }
    }

    /// Refuses a side whose square would take too much memory: libheif bounds each side of what it puts together, and
    /// neither the area nor that it is what the header said.
    private static func check(
        side: Int,
        width: Int,
        height: Int,
        limits: ImageLimits,
        bytesPerPixel: Int
    ) throws(QRCodecError) {
        let most = limits.maxWorkingBytes / bytesPerPixel
        let (padded, overflow) = (side + codingBlock).multipliedReportingOverflow(by: side + codingBlock)
        guard !overflow, side * side <= limits.maxPixels, padded <= most else {
            let most = min(Double(limits.maxPixels).squareRoot(), Double(most).squareRoot() - Double(codingBlock))
            throw QRCodecError(
                .tooLarge,
                message: "The HEIC image claims \(width) × \(height) pixels; at most \(Int(most)) a side are read."
            )
        }
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
        else { throw QRCodecError(.corrupt, message: "The HEIC image has no luminance.") }
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
            throw QRCodecError(.truncated, message: "The HEIC image ends too early.")
        }
        if error.code == heif_error_Memory_allocation_error {
            throw error.subcode == heif_suberror_Security_limit_exceeded
                ? QRCodecError(.tooLarge, message: "The HEIC image needs more memory than allowed: \(reason).")
                : QRCodecError(.decoderFailed, message: "There is not enough memory to read the HEIC image.")
        }
        if error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype {
            throw QRCodecError(
                .unsupportedFormat,
                message: "The HEIC image is of a kind that libheif cannot read: \(reason)."
            )
        }
        throw QRCodecError(.corrupt, message: "The HEIC image is damaged: \(reason).")
    }
}
