import CTurboJPEG

/// Makes pictures smaller, for services that take no large ones.
package enum SmallerPicture {
    /// Pixels of the longer side at most: models see no more.
    private static let longestSide = 2048
    private static let quality: Int32 = 85

    /// A PNG, JPEG or WebP picture as a JPEG that is small enough. Transparency is left out.
    ///
    /// - Parameters:
    ///   - size: Bytes that it may have.
    ///   - limits: Checked before memory is asked for.
    /// - Throws: ``QRCodecError``.
    package static func jpeg(
        of data: [UInt8],
        atMost size: Int,
        limits: ImageLimits = .default
    ) throws(QRCodecError) -> [UInt8] {
        let full =
            switch ImageFormat(data) {
            case .png: try PNGDecoder.decodeColour(data, limits: limits)
            case .jpeg: try JPEGDecoder.decodeColour(data, limits: limits)
            case .webp: try WebPDecoder.decodeColour(data, limits: limits)
            default:
                throw QRCodecError(.unsupportedFormat, message: "Only PNG, JPEG and WebP pictures can be made smaller.")
            }
        let longest = max(full.width, full.height)
        var side = min(longestSide, longest)
        while true {
            let (width, height) = (max(1, full.width * side / longest), max(1, full.height * side / longest))
            let made = try encode(full.scaled(width: width, height: height))
            if made.count <= size { return made }
            guard side > 64 else { throw QRCodecError(.tooLarge, message: "The picture cannot be made small enough.") }
            side = side * 7 / 10
        }
    }

    private static func encode(_ image: ColourImage) throws(QRCodecError) -> [UInt8] {
        guard let handle = tjInitCompress() else {
            throw QRCodecError(.decoderFailed, message: "The JPEG encoder could not be started.")
        }
        defer { tjDestroy(handle) }
        var buffer: UnsafeMutablePointer<UInt8>?
        var size = UInt(0)
        defer { tjFree(buffer) }
        let status = tjCompress2(
            handle,
            image.bytes,
            Int32(image.width),
            0,
            Int32(image.height),
            Int32(TJPF_RGB.rawValue),
            &buffer,
            &size,
            Int32(TJSAMP_420.rawValue),
            quality,
            0
        )
        guard status == 0, let buffer else {
            throw QRCodecError(.decoderFailed, message: "The picture could not be written as JPEG.")
        }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(size)))
    }
}
