import CWebP

/// Reads WebP images with libwebp: lossy and lossless, transparency laid over white, of animations the first picture.
enum WebPDecoder {
    /// Colours of a whole image twice, once as the decoder works on them, and the luminance.
    private static let bytesPerPixel = 4 + 4 + 1

    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        let picture = firstPicture(of: data)
        var features = WebPBitstreamFeatures()
        let status = picture.withUnsafeBufferPointer { WebPGetFeatures($0.baseAddress, $0.count, &features) }
        if let failure = failure(status) { throw failure }
        let (width, height) = (Int(features.width), Int(features.height))
        guard width > 0, height > 0 else { throw QRCodecError(.corrupt, message: "The WebP image has no pixels.") }
        guard features.has_animation == 0 else {
            throw QRCodecError(.corrupt, message: "The WebP image is an animation without a picture.")
        }
        try limits.check(width: width, height: height, kind: "WebP image", bytesPerPixel: bytesPerPixel)
        return try decode(picture, width: width, height: height)
    }

    /// All pixels, three bytes each: red, green and blue. Transparency is left out; of animations, the first picture.
    static func decodeColour(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> ColourImage {
        let picture = firstPicture(of: data)
        var (width, height) = (Int32(0), Int32(0))
        let isKnown = picture.withUnsafeBufferPointer { WebPGetInfo($0.baseAddress, $0.count, &width, &height) }
        guard isKnown != 0, width > 0, height > 0 else { throw damaged }
        try limits.check(width: Int(width), height: Int(height), kind: "WebP image", bytesPerPixel: 3 + 4)
        var image = ColourImage(width: Int(width), height: Int(height))
        let size = image.bytes.count
        let isWhole = picture.withUnsafeBufferPointer { bytes in
            image.bytes.withUnsafeMutableBufferPointer { pixels in
                WebPDecodeRGBInto(bytes.baseAddress, bytes.count, pixels.baseAddress, size, width * 3) != nil
            }
        }
        guard isWhole else { throw damaged }
        return image
    }

    private static var damaged: QRCodecError { QRCodecError(.corrupt, message: "The WebP image is damaged.") }

    private static func decode(_ data: ArraySlice<UInt8>, width: Int, height: Int) throws(QRCodecError) -> DecodedImage
    {
        guard let decoder = WebPINewRGB(MODE_RGBA, nil, 0, 0) else {
            throw QRCodecError(.decoderFailed, message: "The WebP decoder could not be started.")
        }
        defer { WebPIDelete(decoder) }
        // The decoder copies what it is given.
        let status = data.withUnsafeBufferPointer { WebPIAppend(decoder, $0.baseAddress, $0.count) }
        var image = QRImage(width: width, height: height, filledWith: 255)
        var (lastRow, decodedWidth, decodedHeight, stride) = (Int32(0), Int32(0), Int32(0), Int32(0))
        if let pixels = WebPIDecGetRGB(decoder, &lastRow, &decodedWidth, &decodedHeight, &stride),
            Int(decodedWidth) == width
        {
            image.luminance.withUnsafeMutableBufferPointer { target in
                for y in 0..<min(Int(lastRow), height) {
                    let row = pixels + y * Int(stride)
                    for x in 0..<width {
                        let grey = Luma.grey(red: row[4 * x], green: row[4 * x + 1], blue: row[4 * x + 2])
                        target[y * width + x] = Luma.overWhite(grey, alpha: row[4 * x + 3])
                    }
                }
            }
        }
        return DecodedImage(image: image, damage: failure(status))
    }

    /// The bytes of the first frame of an animation, without the RIFF frame, or all.
    private static func firstPicture(of data: [UInt8]) -> ArraySlice<UInt8> {
        var position = 12
        var isAnimation = false
        while position + 8 <= data.count {
            let length = (0..<4).reduce(0) { $0 | Int(data[position + 4 + $1]) << (8 * $1) }
            let (type, start) = (data[position..<position + 4], position + 8)
            if type.elementsEqual("VP8X".utf8), start < data.count { isAnimation = data[start] & 2 != 0 }
            // Place, size, duration and flags of the frame come before its picture.
            if isAnimation, type.elementsEqual("ANMF".utf8), length > 16, start + 16 <= data.count {
                return data[(start + 16)..<min(data.count, start + length)]
            }
            guard isAnimation || type.elementsEqual("VP8X".utf8) else { break }
            position = start + length + length % 2
        }
        return data[...]
    }

    private static func failure(_ status: VP8StatusCode) -> QRCodecError? {
        switch status {
        case VP8_STATUS_OK: nil
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            QRCodecError(.truncated, message: "The WebP image ends too early.")
        case VP8_STATUS_OUT_OF_MEMORY:
            QRCodecError(.decoderFailed, message: "There is not enough memory to read the WebP image.")
        default: damaged
        }
    }
}
