/// A picture as far as it could be read.
struct DecodedImage {
    var image: QRImage
    /// The error in the data, if rows are missing or may be wrong; missing ones are white.
    ///
    /// Half a photograph can hold a whole QR code, whose own error correction says whether it was read rightly,
    /// so damage counts only where nothing was found.
    var damage: QRCodecError?
    /// How many pixels of the file one of these stands for in each direction.
    var reduction = 1
}

/// Turns the bytes of a file into shades of grey.
enum ImageDecoder {
    /// - Parameter mayReduce: Whether a very large photograph may come at half its size or less, where that saves
    ///   memory.
    static func decode(
        _ data: [UInt8],
        limits: ImageLimits,
        mayReduce: Bool = false
    ) throws(QRCodecError) -> DecodedImage {
        guard !data.isEmpty else { throw QRCodecError(.empty, message: "The file is empty.") }
        guard data.count <= limits.maxFileBytes else {
            throw QRCodecError(
                .tooLarge,
                message: "The file has \(data.count) bytes; at most \(limits.maxFileBytes) are read."
            )
        }
        return try decode(data, as: ImageFormat(data), limits: limits, mayReduce: mayReduce)
    }

    /// The same of a format that was told already, whatever the first bytes are.
    static func decode(
        _ data: [UInt8],
        as format: ImageFormat,
        limits: ImageLimits,
        mayReduce: Bool
    ) throws(QRCodecError) -> DecodedImage {
        switch format {
        case .png: return try PNGDecoder.decode(data, limits: limits)
        case .jpeg: return try JPEGDecoder.decode(data, limits: limits, mayReduce: mayReduce)
        case .webp: return try WebPDecoder.decode(data, limits: limits)
        case .heic: return try HEIFDecoder.decode(data, limits: limits)
        case .other(let name):
            throw QRCodecError(
                .unsupportedFormat,
                message: "The file is in another format (\(name)); PNG, JPEG, WebP and HEIC images can be read."
            )
        }
    }
}
