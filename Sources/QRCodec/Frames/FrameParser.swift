/// Cuts a stream of bytes into frames: YUV4MPEG2, or JPEG files one after another, told apart by the first bytes.
package struct FrameParser {
    private enum State {
        /// Not enough bytes to tell.
        case start([UInt8])
        case y4m(Y4MParser)
        case jpeg(JPEGSplitter)
    }

    private var state = State.start([])

    package init() {}

    /// Takes the next bytes, as many as there are.
    ///
    /// - Returns: The frames that end in them.
    /// - Throws: ``QRCodecError`` with the code `unsupportedFormat`, `corrupt` or `tooLarge`; nothing may follow then.
    package mutating func take(_ bytes: ArraySlice<UInt8>) throws(QRCodecError) -> [Frame] {
        switch state {
        case .y4m(var parser):
            // Moved out and in: what it collects is not copied.
            state = .start([])
            defer { state = .y4m(parser) }
            return try parser.take(bytes)
        case .jpeg(var splitter):
            state = .start([])
            defer { state = .jpeg(splitter) }
            return try splitter.take(bytes)
        case .start(var beginning):
            beginning += bytes
            let magic = Y4MParser.magic
            if beginning.count < magic.count, magic.starts(with: beginning) {
                state = .start(beginning)
                return []
            }
            if beginning.starts(with: magic) {
                state = .y4m(Y4MParser())
            } else {
                try Self.refuseFiles(beginning)
                state = .jpeg(JPEGSplitter())
            }
            return try take(beginning[...])
        }
    }

    /// Says that no more bytes follow.
    ///
    /// - Throws: ``QRCodecError`` with the code `empty`, `unsupportedFormat` or `truncated` where there was no whole
    ///   frame.
    package func finish() throws(QRCodecError) {
        switch state {
        case .start(let beginning):
            guard beginning.isEmpty else { throw Self.unknown(ImageFormat(beginning)) }
            throw QRCodecError(.empty, message: "There are no frames: the input is empty.")
        case .y4m(let parser): try parser.finish()
        case .jpeg(let splitter): try splitter.finish()
        }
    }

    /// Other kinds of file would be searched for JPEG files in vain.
    private static func refuseFiles(_ beginning: [UInt8]) throws(QRCodecError) {
        let format = ImageFormat(beginning)
        switch format {
        case .jpeg: return
        case .other(ImageFormat.unknownKind), .other(ImageFormat.textFile): return
        default: throw unknown(format)
        }
    }

    private static func unknown(_ format: ImageFormat) -> QRCodecError {
        QRCodecError(
            .unsupportedFormat,
            message:
                "The input is not a stream of frames (it begins like a \(format)). Send YUV4MPEG2, or JPEG files one after another."
        )
    }
}

extension ImageFormat: CustomStringConvertible {
    var description: String {
        switch self {
        case .png: "PNG image"
        case .jpeg: "JPEG image"
        case .webp: "WebP image"
        case .heic: "HEIC image"
        case .other(let name): name
        }
    }
}
