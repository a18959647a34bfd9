/// Reads the portable anymap formats: bitmaps, greymaps and pixmaps, as text or binary (P1 to P6), and PAM (P7).
enum PNMDecoder {
    static func decode(_ data: [UInt8], limits: ImageLimits) throws(QRCodecError) -> DecodedImage {
        var reader = PNMReader(data)
        let header = try reader.header()
        try limits.check(width: header.width, height: header.height, kind: "PNM image", bytesPerPixel: 1)
        // A pixel takes at least a bit: a short file with a huge claim costs no memory.
        guard header.width * header.height / 8 <= data.count else {
            throw QRCodecError(
                .truncated,
                "The PNM image claims far more pixels than its \(data.count) bytes can hold."
            )
        }
        var image = QRImage(width: header.width, height: header.height, filledWith: 255)
        var damage: QRCodecError?
        image.luminance.withUnsafeMutableBufferPointer { pixels in
            for y in 0..<header.height {
                let row = UnsafeMutableBufferPointer(rebasing: pixels[y * header.width..<(y + 1) * header.width])
                guard reader.read(row, header) else {
                    damage = QRCodecError(
                        .truncated,
                        "The PNM image ends too early, or contains something that is not a number."
                    )
                    break
                }
            }
        }
        return DecodedImage(image: image, damage: damage)
    }
}

/// What a PNM image says of itself before its pixels.
private struct PNMHeader {
    var width = 0
    var height = 0
    /// Values of a pixel: grey or colour, perhaps with opacity.
    var channels = 1
    /// The value of full light.
    var most = 1
    var isText = false
    /// In bitmaps, a one is ink; eight of them share a byte where they are not text.
    var isBitmap = false
}

private struct PNMReader {
    private let data: [UInt8]
    private var position = 2

    init(_ data: [UInt8]) { self.data = data }

    mutating func header() throws(QRCodecError) -> PNMHeader {
        let kind = data.count > 1 ? data[1] : 0
        var header = PNMHeader()
        if kind == UInt8(ascii: "7") {
            try readFields(&header)
        } else {
            header.isText = kind <= UInt8(ascii: "3")
            header.isBitmap = kind == UInt8(ascii: "1") || kind == UInt8(ascii: "4")
            header.channels = kind == UInt8(ascii: "3") || kind == UInt8(ascii: "6") ? 3 : 1
            guard let width = number(), let height = number(), let most = header.isBitmap ? 1 : number() else {
                throw QRCodecError(.corrupt, "The PNM image's size cannot be read.")
            }
            (header.width, header.height, header.most) = (width, height, most)
            // Exactly one blank ends the header.
            position += 1
        }
        guard header.width > 0, header.height > 0, (1...65_535).contains(header.most),
            (1...4).contains(header.channels)
        else { throw QRCodecError(.corrupt, "The PNM image has no pixels, or none of a kind that exists.") }
        return header
    }

    /// The header of a PAM file: lines of a name and a value.
    private mutating func readFields(_ header: inout PNMHeader) throws(QRCodecError) {
        while let name = word() {
            switch name {
            case "ENDHDR":
                position += 1
                return
            case "WIDTH": header.width = number() ?? 0
            case "HEIGHT": header.height = number() ?? 0
            case "DEPTH": header.channels = number() ?? 0
            case "MAXVAL": header.most = number() ?? 0
            default: _ = word()
            }
        }
        throw QRCodecError(.truncated, "The PAM image's header has no end.")
    }

    private mutating func skipBlanks() {
        while position < data.count {
            if data[position] == UInt8(ascii: "#") {
                while position < data.count, data[position] != UInt8(ascii: "\n") { position += 1 }
            } else if data[position] > 0x20 {
                return
            } else {
                position += 1
            }
        }
    }

    private mutating func word() -> String? {
        skipBlanks()
        let start = position
        while position < data.count, data[position] > 0x20, position - start < 64 { position += 1 }
        return position > start ? String(decoding: data[start..<position], as: UTF8.self) : nil
    }

    /// The next number, of at most nine digits.
    private mutating func number() -> Int? {
        skipBlanks()
        var (value, digits) = (0, 0)
        while position < data.count, digits < 9, (0x30...0x39).contains(data[position]) {
            value = value * 10 + Int(data[position] - 0x30)
            digits += 1
            position += 1
        }
        return digits > 0 ? value : nil
    }

    /// A digit of a bitmap in text: blanks between them may be left out.
    private mutating func bit() -> Int? {
        skipBlanks()
        guard position < data.count, data[position] == 0x30 || data[position] == 0x31 else { return nil }
        position += 1
        return Int(data[position - 1] - 0x30)
    }

    /// Fills a row; false where the data does not hold it all.
    mutating func read(_ row: UnsafeMutableBufferPointer<UInt8>, _ header: PNMHeader) -> Bool {
        if header.isBitmap {
            if header.isText {
                for x in row.indices {
                    guard let bit = bit() else { return false }
                    row[x] = bit == 1 ? 0 : 255
                }
                return true
            }
            let bytes = (row.count + 7) / 8
            guard position + bytes <= data.count else { return false }
            for x in row.indices { row[x] = data[position + x / 8] >> UInt8(7 - x % 8) & 1 == 1 ? 0 : 255 }
            position += bytes
            return true
        }
        let bytes = header.isText ? 0 : row.count * header.channels * (header.most > 255 ? 2 : 1)
        guard position + bytes <= data.count else { return false }
        var values: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 255)
        for x in row.indices {
            for channel in 0..<header.channels {
                guard let value = header.isText ? number() : binary(header) else { return false }
                let shade = UInt8(min(value, header.most) * 255 / header.most)
                switch channel {
                case 0: values.0 = shade
                case 1: values.1 = shade
                case 2: values.2 = shade
                default: values.3 = shade
                }
            }
            row[x] =
                switch header.channels {
                case 1: values.0
                case 2: Luma.overWhite(values.0, alpha: values.1)
                default: Luma.overWhite(Luma.grey(red: values.0, green: values.1, blue: values.2), alpha: values.3)
                }
        }
        return true
    }

    private mutating func binary(_ header: PNMHeader) -> Int? {
        guard header.most > 255 else {
            position += 1
            return Int(data[position - 1])
        }
        position += 2
        return Int(data[position - 2]) << 8 | Int(data[position - 1])
    }
}
