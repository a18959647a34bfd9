/// Finds the QR codes in images.
package enum QRScanner {
    /// Reads the bytes of a PNG or JPEG file and finds the QR codes in it.
    ///
    /// A damaged or truncated image is read as far as it goes; that it is damaged is thrown only if the rest holds
    /// no QR code. Calls block, and are safe on any thread:
    /// some 35 ms a megapixel, up to three times that where nothing is found.
    ///
    /// - Returns: What was found, from the top; empty if the picture is fine but holds no QR code.
    /// - Throws: ``QRCodecError`` with the code `empty`, `unsupportedFormat`, `truncated`, `corrupt`, `tooLarge` or
    ///   `decoderFailed`.
    package static func scan(
        _ data: [UInt8],
        limits: ImageLimits = .default
    ) throws(QRCodecError) -> [ScannedSymbol] {
        let decoded = try ImageDecoder.decode(data, limits: limits)
        let found = try scan(decoded.image)
        if found.isEmpty, let damage = decoded.damage { throw damage }
        return found
    }

    /// Finds the QR codes in a picture: as it is, then with dark and light exchanged, then at other sizes.
    ///
    /// - Returns: What was found, from the top; empty if there is no QR code.
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    package static func scan(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol] {
        let scanner = try ZBarScanner()
        try scanner.configure()
        if let found = try scanner.scanBothWays(image) { return found }
        var look = AnotherLook(at: image)
        while let next = look.next() {
            guard let found = try scanner.scanBothWays(next) else { continue }
            return found.map { symbol in
                ScannedSymbol(bytes: symbol.bytes, corners: symbol.corners.map(look.original))
            }
        }
        return []
    }
}

extension ZBarScanner {
    /// What is in a picture or, failing that, in its negative; `nil` if neither holds anything.
    fileprivate func scanBothWays(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol]? {
        let found = try scan(image)
        if !found.isEmpty { return found }
        var negative = image
        negative.invert()
        let foundInNegative = try scan(negative)
        return foundInNegative.isEmpty ? nil : foundInNegative
    }
}

/// A picture at other sizes, one after another, for when the reader found nothing at its own.
///
/// Small pictures are enlarged: with one pixel a module, most symbols are missed. Large ones are halved again and
/// again, which takes out noise and blur; all of these together cost a third of the first look.
private struct AnotherLook {
    /// The longest side, in pixels, of a picture that is enlarged rather than halved.
    private static let smallSide = 600
    /// The longest side of a picture that is not worth halving any more.
    private static let smallestHalved = 300
    private static let (enlargement, margin) = (3, 16)

    private var image: QRImage
    private var halvings = 0
    private var isEnlarged = false

    init(at image: QRImage) { self.image = image }

    /// The picture at the next size, or `nil` after the last.
    mutating func next() -> QRImage? {
        guard !isEnlarged, min(image.width, image.height) >= 2 else { return nil }
        if halvings == 0, max(image.width, image.height) <= Self.smallSide {
            isEnlarged = true
            return image.enlarged(by: Self.enlargement, margin: Self.margin)
        }
        guard max(image.width, image.height) > Self.smallestHalved else { return nil }
        image = image.halved()
        halvings += 1
        return image
    }

    /// Takes a place in the latest picture to the same place in the original.
    func original(_ point: Point) -> Point {
        guard isEnlarged else { return Point(x: point.x << halvings, y: point.y << halvings) }
        return Point(x: (point.x - Self.margin) / Self.enlargement, y: (point.y - Self.margin) / Self.enlargement)
    }
}
