import QRCodec

/// A source that a test feeds.
struct FedFrames: FrameSource {
    var isLive = true
    /// The frame of a number, from 0; `nil` ends.
    var frame: @Sendable (Int, WakeSignal) throws(QRCodecError) -> Frame?
    private var number = 0

    init(
        isLive: Bool = true,
        _ frame: @escaping @Sendable (Int, WakeSignal) throws(QRCodecError) -> Frame?
    ) {
        (self.isLive, self.frame) = (isLive, frame)
    }

    /// These frames, which wait until they are looked at.
    init(_ frames: [Frame]) {
        self.init(isLive: false) { number, _ throws(QRCodecError) in number < frames.count ? frames[number] : nil }
    }

    mutating func next(_ wake: WakeSignal) throws(QRCodecError) -> Frame? {
        defer { number += 1 }
        return try frame(number, wake)
    }
}

extension Frame {
    /// A frame that shows a symbol.
    static func showing(_ text: String) throws -> Frame {
        .grey(try PixelGrid(QRSymbol(bytes: Array(text.utf8)), scale: 4).image)
    }

    static let blank = Frame.grey(PixelGrid(width: 320, height: 240) { _, _ in false }.image)

    /// What it shows; `nil` where it is no grey one.
    var image: QRImage? {
        if case .grey(let image) = self { image } else { nil }
    }
}
