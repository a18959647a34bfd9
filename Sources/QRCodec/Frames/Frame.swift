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
    /// What a frame may have: 16 MiB and 8,192 × 8,192 pixels, beyond any camera that films.
    package static let frame = ImageLimits(
        maxFileBytes: 16 << 20,
        maxPixels: 8_192 * 8_192,
        maxWorkingBytes: 256 << 20
    )
}
