/// One picture of many that follow one another.
package enum Frame: Sendable {
    case grey(QRImage)
    /// A JPEG file, which is decoded only if its turn comes.
    case jpeg([UInt8])

    /// The picture; what is damaged comes as far as it could be read.
    func image(limits: ImageLimits) throws(QRCodecError) -> QRImage {
        switch self {
        case .grey(let image): image
        case .jpeg(let bytes): try JPEGDecoder.decode(bytes, limits: limits, mayReduce: true).image
        }
    }
}

extension ImageLimits {
    /// The limits of a frame: 16 MiB and 8,192 × 8,192 pixels, beyond any camera that films, and 256 MiB for decoding.
    package static let frame = ImageLimits(
        maxFileBytes: 16 << 20,
        maxPixels: 8_192 * 8_192,
        maxWorkingBytes: 256 << 20
    )
}

/// A source of frames. Each is used on one thread of its own, where it may block.
package protocol FrameSource {
    /// Whether frames come in their own time, as from a camera or a pipe. Of these, frames that nobody had the time to
    /// look at are dropped; others, from a file, wait.
    var isLive: Bool { get }

    /// The next frame; `nil` at the end, or when `wake` ended the waiting.
    ///
    /// - Throws: ``QRCodecError`` where no more frames can come.
    mutating func next(_ wake: WakeSignal) throws(QRCodecError) -> Frame?
}
