extension QRSymbol {
    /// Pixels a module in a picture where nothing else is asked for.
    package static let usualScale = 8
    /// Pixels a module that can be asked for.
    package static let scales = 1...64

    /// A text without its last line end, which belongs to the file that it came in.
    package static func withoutLineEnd(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Array(bytes)
    }

    /// The smallest symbol for a picture, which may be printed: paper gets dirty and creased, screens do not. So it has
    /// at least medium error correction, as long as that holds the bytes.
    ///
    /// - Throws: ``QRCodecError`` with the code `empty`, `payloadTooLong` or `encoderFailed`.
    package init(paper bytes: [UInt8]) throws(QRCodecError) {
        try self.init(smallest: bytes, atLeast: bytes.count <= QRErrorCorrection.medium.maxBytes ? .medium : .low)
    }
}
