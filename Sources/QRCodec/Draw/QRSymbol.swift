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
