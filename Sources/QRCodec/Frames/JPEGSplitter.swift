/// Cuts a stream into JPEG files by their markers (ITU-T T.81, annex B).
///
/// Bytes between the files are skipped, such as the lines between the parts of an HTTP stream; so is a file that
/// another one begins in. Thumbnails in a file's segments are part of it.
struct JPEGSplitter {
    /// Bytes without a JPEG file after which there will be none.
    private static let mostRubbish = 1 << 20
    private static let (start, end, startOfScan): (UInt8, UInt8, UInt8) = (0xD8, 0xD9, 0xDA)

    private enum State: Equatable {
        /// Between files. Whether the last byte was 0xFF.
        case outside(afterFF: Bool)
        /// A marker begins; or, within a scan, its data may go on.
        case marker(afterFF: Bool, inScan: Bool)
        /// In the two bytes of a segment's length, of which one may have come.
        case length(first: UInt8?, isScan: Bool)
        /// In a segment of which so many bytes are left.
        case segment(left: Int, isScan: Bool)
    }

    private var state = State.outside(afterFF: false)
    private var file: [UInt8] = []
    private var rubbish = 0
    private var hasFrames = false

    mutating func take(_ bytes: ArraySlice<UInt8>) throws(QRCodecError) -> [Frame] {
        var frames: [Frame] = []
        var position = bytes.startIndex
        while position < bytes.endIndex {
            if case .segment(let left, let isScan) = state {
                let count = min(left, bytes.endIndex - position)
                file.append(contentsOf: bytes[position..<position + count])
                position += count
                state =
                    left > count
                    ? .segment(left: left - count, isScan: isScan) : .marker(afterFF: false, inScan: isScan)
            } else if case .marker(afterFF: false, inScan: true) = state {
                // Nearly all of a file is this: on to the next 0xFF.
                let rest = bytes[position...]
                let next = rest.firstIndex(of: 0xFF).map { $0 + 1 } ?? bytes.endIndex
                file.append(contentsOf: bytes[position..<next])
                if bytes[next - 1] == 0xFF { state = .marker(afterFF: true, inScan: true) }
                position = next
            } else {
                if let frame = take(bytes[position]) { frames.append(frame) }
                position += 1
            }
            if file.count > ImageLimits.frame.maxFileBytes { begin(outside: true) }
            if rubbish > Self.mostRubbish, !hasFrames {
                throw QRCodecError(
                    .unsupportedFormat,
                    message: "The input is not a stream of frames: its first \(rubbish >> 20) MiB contain no JPEG file."
                )
            }
        }
        return frames
    }

    func finish() throws(QRCodecError) {
        guard !hasFrames else { return }
        guard file.isEmpty else {
            throw QRCodecError(.truncated, message: "The stream of JPEG files ends within its first file.")
        }
        throw QRCodecError(
            .unsupportedFormat,
            message: "The input is not a stream of frames: it contains no JPEG file."
        )
    }

    /// Forgets the file so far.
    private mutating func begin(outside: Bool) {
        file = outside ? [] : [0xFF, Self.start]
        state = outside ? .outside(afterFF: false) : .marker(afterFF: false, inScan: false)
    }

    private mutating func take(_ byte: UInt8) -> Frame? {
        switch state {
        case .outside(let afterFF):
            if afterFF, byte == Self.start {
                begin(outside: false)
            } else {
                rubbish += 1
                state = .outside(afterFF: byte == 0xFF)
            }
        case .marker(afterFF: false, inScan: _):
            // Outside a scan only markers follow one another.
            guard byte == 0xFF else {
                begin(outside: true)
                break
            }
            file.append(byte)
            state = .marker(afterFF: true, inScan: false)
        case .marker(afterFF: true, let inScan):
            return takeMarker(byte, inScan: inScan)
        case .length(nil, let isScan):
            file.append(byte)
            state = .length(first: byte, isScan: isScan)
        case .length(let first?, let isScan):
            file.append(byte)
            let length = Int(first) << 8 | Int(byte)
            // The length counts its own two bytes.
            guard length >= 2 else {
                begin(outside: true)
                break
            }
            state =
                length == 2
                ? .marker(afterFF: false, inScan: isScan) : .segment(left: length - 2, isScan: isScan)
        case .segment: break
        }
        return nil
    }

    /// The byte behind 0xFF.
    private mutating func takeMarker(_ byte: UInt8, inScan: Bool) -> Frame? {
        switch byte {
        case Self.start:
            // The file before this one is not whole.
            begin(outside: false)
        case Self.end:
            file.append(byte)
            hasFrames = true
            defer { begin(outside: true) }
            return .jpeg(file)
        case 0xFF:
            // Fill bytes may stand before any marker.
            break
        case 0x00 where inScan, 0xD0...0xD7, 0x01:
            file.append(byte)
            state = .marker(afterFF: false, inScan: inScan)
        case 0x00, 0x02...0xBF:
            begin(outside: true)
        default:
            file.append(byte)
            state = .length(first: nil, isScan: byte == Self.startOfScan)
        }
        return nil
    }
}
