/// What a BMP image says of itself before its pixels (BITMAPFILEHEADER, then BITMAPCOREHEADER or a BITMAPINFOHEADER of
/// any age).
struct BMPHeader {
    enum Packing {
        case plain
        /// Run lengths, of so many bits a pixel.
        case runs
    }

    let width: Int
    let height: Int
    /// Whether the first row is the top one; usually it is the last.
    let isTopDown: Bool
    let bits: Int
    let packing: Packing
    /// The shade of each colour of the palette.
    let palette: [UInt8]
    /// Which bits of a pixel are red, green and blue, where there is no palette.
    let masks: (red: UInt32, green: UInt32, blue: UInt32)
    /// Where the pixels begin.
    let offset: Int

    init(_ data: [UInt8]) throws(QRCodecError) {
        func number(_ place: Int, _ count: Int) -> Int {
            guard place + count <= data.count else { return 0 }
            return (0..<count).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
        }
        let size = number(14, 4)
        guard data.count >= 26, size == 12 || (40...1_024).contains(size), data.count >= 14 + size else {
            throw QRCodecError(data.count < 54 ? .truncated : .corrupt, "The BMP image's header is incomplete.")
        }
        let isCore = size == 12
        width = isCore ? number(18, 2) : number(18, 4)
        let rows = isCore ? number(20, 2) : Int(Int32(truncatingIfNeeded: number(22, 4)))
        (height, isTopDown) = (abs(rows), rows < 0)
        bits = isCore ? number(24, 2) : number(28, 2)
        let compression = isCore ? 0 : number(30, 4)
        switch (compression, bits) {
        case (0, 1), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32), (3, 16), (3, 32), (6, 16), (6, 32): packing = .plain
        case (1, 8), (2, 4): packing = .runs
        case (4, _), (5, _):
            throw QRCodecError(.unsupportedFormat, "The BMP image is wrapped around one in another format.")
        default: throw QRCodecError(.corrupt, "The BMP image has pixels of a kind that does not exist.")
        }
        guard width > 0, width <= Int(Int32.max), height > 0 else {
            throw QRCodecError(.corrupt, "The BMP image has no pixels.")
        }
        offset = number(10, 4)
        let bytes = isCore ? 3 : 4
        var start = 14 + size
        if compression == 3 || compression == 6 {
            // In headers from 52 bytes on they are a part, before that they follow; the place is the same.
            masks = (UInt32(number(54, 4)), UInt32(number(58, 4)), UInt32(number(62, 4)))
            if size == 40 { start += compression == 3 ? 12 : 16 }
        } else {
            masks = bits == 16 ? (0x7C00, 0x03E0, 0x001F) : (0xFF0000, 0xFF00, 0xFF)
        }
        guard bits <= 8 else {
            palette = []
            return
        }
        let declared = isCore ? 0 : number(46, 4)
        let count = min(declared == 0 ? 1 << bits : declared, 1 << bits)
        palette = (0..<1 << bits).map { index in
            let place = start + index * bytes
            // A colour that is not there is black.
            guard index < count, place + 3 <= data.count else { return 0 }
            return Luma.grey(red: data[place + 2], green: data[place + 1], blue: data[place])
        }
    }
}
