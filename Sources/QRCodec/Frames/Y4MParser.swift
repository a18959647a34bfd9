/// Cuts YUV4MPEG2 into frames (yuv4mpeg(5) of mjpegtools): a line of parameters, then for each frame a line and the
/// planes, of which only the first, the luminance, is kept.
struct Y4MParser {
    static let magic = Array("YUV4MPEG2".utf8)
    /// The most bytes that a line of parameters may have.
    private static let longestLine = 1_024

    private enum State {
        case header
        case frameLine
        case luminance
        /// In the other planes, of which so many bytes are left.
        case colour(Int)
    }

    private var state = State.header
    private var line: [UInt8] = []
    private var layout = Y4MLayout()
    private var luminance: [UInt8] = []
    private var hasFrames = false

    mutating func take(_ bytes: ArraySlice<UInt8>) throws(QRCodecError) -> [Frame] {
        var (frames, rest) = ([Frame](), bytes)
        while !rest.isEmpty {
            switch state {
            case .header:
                guard let header = try readLine(&rest) else { break }
                layout = try Y4MLayout(header)
                state = .frameLine
            case .frameLine:
                guard let parameters = try readLine(&rest) else { break }
                guard
                    parameters.split(separator: UInt8(ascii: " ")).first.map({ $0.elementsEqual("FRAME".utf8) }) == true
                else {
                    throw QRCodecError(
                        .corrupt,
                        message: "The YUV4MPEG2 stream is damaged: a frame does not begin with FRAME."
                    )
                }
                luminance.reserveCapacity(layout.luminanceBytes)
                state = .luminance
            case .luminance:
                let part = rest.prefix(layout.luminanceBytes - luminance.count)
                luminance.append(contentsOf: part)
                rest = rest.dropFirst(part.count)
                guard luminance.count == layout.luminanceBytes else { break }
                state = .colour(layout.colourBytes)
                frames.append(.grey(QRImage(width: layout.width, height: layout.height, luminance: luminance)))
                luminance = []
                hasFrames = true
                if layout.colourBytes == 0 { state = .frameLine }
            case .colour(let left):
                let count = min(left, rest.count)
                rest = rest.dropFirst(count)
                state = left > count ? .colour(left - count) : .frameLine
            }
        }
        return frames
    }

    func finish() throws(QRCodecError) {
        guard !hasFrames else { return }
        throw QRCodecError(.truncated, message: "The YUV4MPEG2 stream ends within its first frame.")
    }

    /// The line that ends in the bytes, without its end; `nil` where more are needed.
    private mutating func readLine(_ rest: inout ArraySlice<UInt8>) throws(QRCodecError) -> [UInt8]? {
        let part = rest.prefix(Self.longestLine + 1 - line.count)
        let end = part.firstIndex(of: UInt8(ascii: "\n"))
        line.append(contentsOf: part[..<(end ?? part.endIndex)])
        guard line.count <= Self.longestLine else {
            throw QRCodecError(
                .corrupt,
                message: "The YUV4MPEG2 stream has a line of more than \(Self.longestLine) bytes."
            )
        }
        rest = rest[(end.map { $0 + 1 } ?? part.endIndex)...]
        guard end != nil else { return nil }
        defer { line = [] }
        return line
    }
}

/// How large the planes of a YUV4MPEG2 frame are.
struct Y4MLayout: Equatable {
    var width = 0
    var height = 0
    /// Bytes of all planes but the first.
    var colourBytes = 0

    var luminanceBytes: Int { width * height }

    init() {}

    /// - Parameter header: The stream's first line.
    init(_ header: [UInt8]) throws(QRCodecError) {
        let words = header.split(separator: UInt8(ascii: " "))
        guard words.first.map({ $0.elementsEqual(Y4MParser.magic) }) == true else {
            throw QRCodecError(.corrupt, message: "The YUV4MPEG2 stream's first line is damaged.")
        }
        // Without a word on it, colours are 4:2:0.
        var colours = "420"
        for word in words.dropFirst() {
            let value = String(decoding: word.dropFirst(), as: UTF8.self)
            switch word.first {
            case UInt8(ascii: "W"): width = Int(value) ?? 0
            case UInt8(ascii: "H"): height = Int(value) ?? 0
            case UInt8(ascii: "C"): colours = value
            default: break
            }
        }
        guard width > 0, height > 0 else {
            throw QRCodecError(.corrupt, message: "The YUV4MPEG2 stream does not say how large its frames are.")
        }
        try ImageLimits.frame.check(width: width, height: height, kind: "YUV4MPEG2 stream", bytesPerPixel: 1)
        colourBytes = try Self.colourBytes(colours, width: width, height: height)
    }

    private static func colourBytes(_ name: String, width: Int, height: Int) throws(QRCodecError) -> Int {
        let (halfWidth, halfHeight, quarterWidth) = ((width + 1) / 2, (height + 1) / 2, (width + 3) / 4)
        switch name {
        case "mono": return 0
        case "420", "420jpeg", "420mpeg2", "420paldv": return 2 * halfWidth * halfHeight
        case "422": return 2 * halfWidth * height
        case "440": return 2 * width * halfHeight
        case "411": return 2 * quarterWidth * height
        case "410": return 2 * quarterWidth * ((height + 3) / 4)
        case "444": return 2 * width * height
        case "444alpha": return 3 * width * height
        default:
            throw QRCodecError(
                .unsupportedFormat,
                message:
                    "The YUV4MPEG2 stream has an unknown colour layout or more than 8 bits a sample; ffmpeg's -pix_fmt gray helps."
            )
        }
    }
}
