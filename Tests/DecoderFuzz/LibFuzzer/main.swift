import FuzzDriver

@testable import QRCodec

/// What `FUZZ_FORMAT` names is fed the inputs of libFuzzer, which changes files by what the code does with them: one
/// decoder, so that a change of the first bytes does not lead to another, or all that scanning does. See
/// `scripts/fuzz`.
enum Target: String {
    case png
    case jpeg
    case webp
    case heic
    case y4m
    case mjpeg
    case any

    func feed(_ bytes: [UInt8]) {
        let limits = ImageLimits(maxPixels: 1_000_000, maxWorkingBytes: 32 << 20)
        func decode(_ format: ImageFormat) {
            _ = try? ImageDecoder.decode(bytes, as: format, limits: limits, mayReduce: (bytes.last ?? 0) & 1 == 1)
        }
        switch self {
        case .png: decode(.png)
        case .jpeg: decode(.jpeg)
        case .webp: decode(.webp)
        case .heic: decode(.heic)
        case .y4m, .mjpeg:
            // The last byte says in which parts the stream comes.
            let size = Int(bytes.last ?? 0) * 16 + 1
            var (parser, start) = (FrameParser(), 0)
            while start < bytes.count {
                guard (try? parser.take(bytes[start..<min(bytes.count, start + size)])) != nil else { return }
                start += size
            }
            try? parser.finish()
        case .any: _ = try? QRScanner.scan(bytes, limits: limits)
        }
    }
}

let target: Target = chosenTarget()
runLibFuzzer(target.feed)
