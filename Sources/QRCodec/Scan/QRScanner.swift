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

    /// Finds the QR codes in a picture: at a glance if one fills it, else as it is, then with dark and light exchanged,
    /// then at other sizes.
    ///
    /// - Returns: What was found, from the top; empty if there is no QR code.
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    package static func scan(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol] {
        let scanner = try ZBarScanner()
        try scanner.configure()
        var search = SymbolSearch(image, reader: scanner)
        try search.run(until: { _ in true })
        return search.found
    }
    static func old(_ image: QRImage) throws(QRCodecError) -> [ScannedSymbol] {
        let scanner = try ZBarScanner()
        try scanner.configure()
        if let found = try scanner.glance(at: image) { return [found] }
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
    /// Lines that a glance at a picture takes along each of its sides. Of a symbol of version 11 that fills the picture
    /// with its quiet zone (69 modules), five of them cross the core of a finder pattern (3 modules); zbar wants three.
    private static let glanceLines = 120
    /// The widest margin, as a part of the symbol's side, that is taken for quiet zone alone: 4 of 21 modules or less.
    private static let widestMargin = 0.2

    /// The QR code of a picture that shows that one and nothing else, read from a few lines. `nil` where the picture is
    /// small, holds none or has room for more.
    fileprivate func glance(at image: QRImage) throws(QRCodecError) -> ScannedSymbol? {
        let density = min(image.width, image.height) / Self.glanceLines
        guard density > 1 else { return nil }
        try look(everyLines: density)
        let found = try scan(image)
        try look(everyLines: 1)
        guard found.count == 1, let symbol = found.first, symbol.fills(image, upTo: Self.widestMargin) else {
            return nil
        }
        return symbol
    }

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

extension ScannedSymbol {
    /// Whether what is left of a picture around the symbol is narrow, measured by the symbol's own sides.
    fileprivate func fills(_ image: QRImage, upTo margin: Double) -> Bool {
        guard let left = corners.map(\.x).min(), let right = corners.map(\.x).max(),
            let top = corners.map(\.y).min(), let bottom = corners.map(\.y).max()
        else { return false }
        let widest = Int(margin * Double(min(right - left, bottom - top)))
        return max(left, top, image.width - right, image.height - bottom) <= widest
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
