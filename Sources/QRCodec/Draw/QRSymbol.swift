import CQREncode

/// A QR code as a square of dark and light modules, ready to be drawn.
package struct QRSymbol: Sendable, Hashable {
    /// Light modules that the standard wants on each side.
    package static let quietZone = SymbolLayout.quietZone

    /// Modules a side, without a quiet zone: 21 to 177.
    package let size: Int
    /// 1 to 40, by ISO/IEC 18004.
    package let version: Int
    /// The level of error correction that it was encoded with.
    package let errorCorrection: QRErrorCorrection
    /// Row by row from the top, `true` for dark.
    private let modules: [Bool]
    /// The bytes of its message.
    let bytes: [UInt8]

    /// The smallest symbol that holds the bytes, in 8-bit mode.
    ///
    /// - Parameters:
    ///   - bytes: What the symbol says; any bytes, at least one.
    ///   - errorCorrection: Default: `medium`.
    /// - Throws: ``QRCodecError`` with the code `empty`, `payloadTooLong` or `encoderFailed`.
    package init(bytes: [UInt8], errorCorrection: QRErrorCorrection = .medium) throws(QRCodecError) {
        guard !bytes.isEmpty else { throw QRCodecError(.empty, message: "There is nothing to put into a QR code.") }
        let most = errorCorrection.maxBytes
        guard bytes.count <= most else {
            throw QRCodecError(
                .payloadTooLong,
                message:
                    "\(bytes.count) bytes do not fit into a QR code: level \(errorCorrection.rawValue) holds \(most)."
            )
        }
        guard let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, errorCorrection.level) else {
            throw QRCodecError(.encoderFailed, message: "The QR code could not be made: there is not enough memory.")
        }
        defer { QRcode_free(code) }
        let size = Int(code.pointee.width)
        self.size = size
        self.version = Int(code.pointee.version)
        self.errorCorrection = errorCorrection
        self.bytes = bytes
        // The lowest bit of each byte is the module; the others say what part of the symbol it belongs to.
        self.modules = UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
    }

    /// The smallest symbol that holds the bytes with at least some error correction, with as much more as makes it no
    /// larger.
    ///
    /// - Parameters:
    ///   - bytes: What the symbol says; any bytes, at least one.
    ///   - least: The lowest error correction. For a screen, which nothing covers, `low` makes the smallest drawing.
    /// - Throws: ``QRCodecError`` with the code `empty`, `payloadTooLong` or `encoderFailed`.
    package init(smallest bytes: [UInt8], atLeast least: QRErrorCorrection) throws(QRCodecError) {
        let version = least.version(holding: bytes.count)
        let strongest = QRErrorCorrection.allCases.last { $0.version(holding: bytes.count) == version }
        try self.init(bytes: bytes, errorCorrection: version == nil ? least : strongest ?? least)
    }

    /// Whether a module is dark. Everything outside the symbol is light, as its quiet zone is.
    package subscript(x: Int, y: Int) -> Bool {
        guard x >= 0, y >= 0, x < size, y < size else { return false }
        return modules[y * size + x]
    }

    /// Hands over the stretches of dark modules in a row, from the left.
    func forEachDarkRun(row y: Int, _ body: (Range<Int>) -> Void) {
        var x = 0
        while x < size {
            let start = x
            while self[x, y] { x += 1 }
            if x > start { body(start..<x) }
            x += 1
        }
    }
}

extension QRErrorCorrection {
    fileprivate var level: QRecLevel {
        switch self {
        case .low: QR_ECLEVEL_L
        case .medium: QR_ECLEVEL_M
        case .quartile: QR_ECLEVEL_Q
        case .high: QR_ECLEVEL_H
        }
    }
}

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

extension QRSymbol {
    /// An SVG drawing: one path of dark runs on a white square.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module at the natural size, 1 to 1,000.
    ///   - quietZone: Light modules on each side, 0 to 1,000.
    ///   - title: What it shows, for those who do not see it.
    /// - Throws: ``QRCodecError`` with the code `encoderFailed` where what was drawn does not read back.
    package func svg(
        scale: Int = usualScale,
        quietZone: Int = quietZone,
        title: String = "QR code"
    ) throws(QRCodecError) -> String {
        let quiet = Self.measure(quietZone: quietZone)
        let side = size + 2 * quiet
        let pixels = side * min(max(1, scale), 1_000)
        var path = ""
        for y in 0..<size {
            forEachDarkRun(row: y) { run in
                path += "M\(run.lowerBound + quiet) \(y + quiet)h\(run.count)v1h-\(run.count)z"
            }
        }
        let drawn = Self.modules(path: path)
        try QRReadBack.check(self) { drawn.contains(Point(x: $0 + quiet, y: $1 + quiet)) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(pixels)" height="\(pixels)" \
            viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges" role="img">
            <title>\(Self.escaped(title))</title>
            <path fill="#fff" d="M0 0h\(side)v\(side)h-\(side)z"/>
            <path fill="#000" d="\(path)"/>
            </svg>

            """
    }

    /// Text as an element may hold it (XML 1.0, 2.4); control characters, which it may not hold at all, are left out.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value & 0xFFFE != 0xFFFE {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The modules that a path of dark runs covers.
    private static func modules(path: String) -> Set<Point> {
        var drawn: Set<Point> = []
        for run in path.split(separator: "M") {
            let numbers = run.split { !("0"..."9").contains($0) }.compactMap { Int($0) }
            guard numbers.count >= 3 else { continue }
            for x in numbers[0]..<numbers[0] + numbers[2] { drawn.insert(Point(x: x, y: numbers[1])) }
        }
        return drawn
    }

    /// A quiet zone within reason: what is outside of 0 to 1,000 modules is taken for the nearest of the two.
    static func measure(quietZone: Int) -> Int { min(max(0, quietZone), 1_000) }
}

extension QRSymbol {
    /// The most pixels a side of a drawing.
    private static let maxSide = 16_384

    /// A PNG image, black on white, one bit a pixel.
    ///
    /// - Parameters:
    ///   - scale: Pixels a module, at least 1.
    ///   - quietZone: Light modules on each side, at least 0.
    /// - Throws: ``QRCodecError`` with the code `tooLarge` beyond 16,384 pixels a side, or `encoderFailed`, also
    ///   where what was drawn does not read back.
    package func png(scale: Int = usualScale, quietZone: Int = quietZone) throws(QRCodecError) -> [UInt8] {
        let scale = max(1, scale)
        let quiet = max(0, quietZone)
        guard scale <= Self.maxSide, quiet <= Self.maxSide, (size + 2 * quiet) * scale <= Self.maxSide else {
            throw QRCodecError(.tooLarge, message: "A drawing of more than \(Self.maxSide) pixels a side is of no use.")
        }
        let side = (size + 2 * quiet) * scale
        let encoder = try BilevelPNGEncoder()
        try encoder.begin(side: side)
        let blank = [UInt8](repeating: 0xFF, count: BilevelPNGEncoder.rowBytes(side))
        try encoder.append(blank, times: quiet * scale)
        for y in 0..<size {
            var row = blank
            forEachDarkRun(row: y) { run in
                BilevelPNGEncoder.blacken((run.lowerBound + quiet) * scale..<(run.upperBound + quiet) * scale, in: &row)
            }
            try encoder.append(row, times: scale)
        }
        try encoder.append(blank, times: quiet * scale)
        let file = try encoder.finish()
        try check(file, scale: scale, quietZone: quiet)
        return file
    }

    /// Reads what was drawn again, at the middle of each module.
    func check(_ file: [UInt8], scale: Int, quietZone: Int) throws(QRCodecError) {
        // However large it is: it is our own.
        let limits = ImageLimits(maxFileBytes: .max, maxPixels: .max, maxWorkingBytes: .max)
        let drawn = try PNGDecoder.decode(file, limits: limits)
        if let damage = drawn.damage { throw damage }
        let image = drawn.image
        try QRReadBack.check(self) { x, y in
            let (column, row) = ((x + quietZone) * scale + scale / 2, (y + quietZone) * scale + scale / 2)
            guard (0..<image.width).contains(column), (0..<image.height).contains(row) else { return false }
            return image.luminance[row * image.width + column] < 128
        }
    }
}
