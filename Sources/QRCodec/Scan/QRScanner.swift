/// Finds the QR codes in images.
///
/// A picture is looked at in several sizes, beginning with one at which a code is seen at a glance. At each, symbols
/// are found by their finder patterns, their grid is straightened, and a clean drawing of their modules is given to
/// zbar, which corrects errors and reads the bytes.
package enum QRScanner {
    /// Reads the bytes of an image file and finds the QR codes in it.
    ///
    /// A damaged or truncated image is read as far as it goes; that it is damaged is thrown only if the rest holds
    /// no QR code. Calls block, and are safe on any thread: some 4 ms a megapixel beside what decoding
    /// takes, up to ten times that where nothing is found.
    ///
    /// - Parameters:
    ///   - data: PNG, JPEG, WebP or HEIC, told apart by content.
    ///   - limits: What is refused before it is decoded.
    ///   - isWanted: Whether a payload is one that the caller looks for. Once one is found, the search ends with the
    ///     size of the picture that it is seen at and those next to it, so that a second one much smaller than it may
    ///     be left out; until then it goes on, also after others. By default, any will do.
    /// - Returns: What was found, from the top; empty if the picture is fine but holds no QR code.
    /// - Throws: ``QRCodecError`` with the code `empty`, `unsupportedFormat`, `truncated`, `corrupt`, `tooLarge`,
    ///   `missingLibrary` or `decoderFailed`.
    package static func scan(
        _ data: [UInt8],
        limits: ImageLimits = .default,
        where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(QRCodecError) -> [ScannedSymbol] {
        try confined(data) { () throws(QRCodecError) in try read(data, limits: limits, where: isWanted) }
    }

    private static func read(
        _ data: [UInt8],
        limits: ImageLimits,
        where isWanted: ([UInt8]) -> Bool
    ) throws(QRCodecError) -> [ScannedSymbol] {
        let decoded = try ImageDecoder.decode(data, limits: limits, mayReduce: true)
        var found = try scan(decoded.image, where: isWanted).map { $0.enlarged(by: decoded.reduction) }
        if decoded.reduction > 1, !found.contains(where: { isWanted($0.bytes) }) {
            found = try scan(ImageDecoder.decode(data, limits: limits).image, where: isWanted)
        }
        if found.isEmpty, let damage = decoded.damage { throw damage }
        return found
    }

    /// Finds the QR codes in a picture; see ``scan(_:limits:where:)``.
    ///
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    package static func scan(
        _ image: QRImage,
        where isWanted: ([UInt8]) -> Bool = { _ in true }
    ) throws(QRCodecError) -> [ScannedSymbol] {
        var search = SymbolSearch(image, reader: try .forQR())
        try search.run(until: isWanted)
        var found = search.found
        if !found.contains(where: { isWanted($0.bytes) }), let enlarged = EnlargedImage(image) {
            // With one or two pixels a module there are no finder patterns to be seen.
            var search = SymbolSearch(enlarged.image, reader: search.endedReader(), effort: .enlarged)
            try search.run(until: isWanted)
            for symbol in search.found where !found.contains(where: { $0.bytes == symbol.bytes }) {
                found.append(ScannedSymbol(bytes: symbol.bytes, corners: symbol.corners.map(enlarged.original)))
            }
        }
        return found.sorted { $0.position < $1.position }
    }

    /// Looks at one frame of many, with the effort that thirty a second leave.
    ///
    /// - Returns: The symbols, and what looked like one that could perhaps not be read.
    /// - Throws: ``QRCodecError`` with the code `decoderFailed`.
    static func scan(
        frame: QRImage,
        where isWanted: ([UInt8]) -> Bool
    ) throws(QRCodecError) -> (symbols: [ScannedSymbol], candidate: SymbolCandidate?) {
        var search = SymbolSearch(frame, reader: try .forQR(), effort: .frame)
        try search.run(until: isWanted)
        return (search.found, search.candidate)
    }
}

/// A small picture, enlarged and in a white frame.
private struct EnlargedImage {
    /// The longest side, in pixels, of a picture that is worth it.
    private static let smallSide = 700
    private static let (factor, margin) = (3, 16)

    let image: QRImage

    init?(_ original: QRImage) {
        guard max(original.width, original.height) <= Self.smallSide, !original.luminance.isEmpty else { return nil }
        image = original.enlarged(by: Self.factor, margin: Self.margin)
    }

    /// Takes a place in the enlarged picture to the same place in the original.
    func original(_ point: Point) -> Point {
        Point(x: (point.x - Self.margin) / Self.factor, y: (point.y - Self.margin) / Self.factor)
    }
}
