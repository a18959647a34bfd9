/// Bounds on what is taken from a file that anyone may have made. They are checked before memory is asked for.
package struct ImageLimits: Sendable, Hashable {
    /// The most bytes a file may have. Default: 64 MiB.
    package var maxFileBytes: Int
    /// The most pixels an image may have, by its own header. Default: 200 million, the largest phone cameras.
    package var maxPixels: Int
    /// The most bytes that decoding may need at a time, estimated from the header. Default: 512 MiB.
    package var maxWorkingBytes: Int

    package init(
        maxFileBytes: Int = 64 << 20,
        maxPixels: Int = 200_000_000,
        maxWorkingBytes: Int = 512 << 20
    ) {
        self.maxFileBytes = maxFileBytes
        self.maxPixels = maxPixels
        self.maxWorkingBytes = maxWorkingBytes
    }

    /// The limits for files of photographs: 64 MiB, 200 million pixels and 512 MiB for decoding.
    package static let `default` = ImageLimits()

    /// Refuses dimensions that would need too much memory.
    ///
    /// - Parameters:
    ///   - kind: What it is, for the message: "PNG image".
    ///   - bytesPerPixel: All that is held for one pixel while decoding, the luminance included.
    func check(width: Int, height: Int, kind: String, bytesPerPixel: Int) throws(QRCodecError) {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= maxPixels, pixels <= maxWorkingBytes / max(1, bytesPerPixel) else {
            let most = min(maxPixels, maxWorkingBytes / max(1, bytesPerPixel))
            throw QRCodecError(
                .tooLarge,
                message: "The \(kind) claims \(width) × \(height) pixels; at most \(Self.megapixels(most)) are read."
            )
        }
    }

    private static func megapixels(_ pixels: Int) -> String {
        pixels < 1_000_000 ? "\(pixels) pixels" : "\(pixels / 1_000_000) megapixels"
    }
}
