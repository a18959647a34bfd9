import Glibc

/// The sizes of the coded pictures in a HEIC file.
///
/// libheif believes what a picture's item says of its size, and its decoder takes memory by what the coded picture says
/// itself. So that is looked for before: in every decoder's settings, and in the data of every item. Boxes are found by
/// their names wherever they are, so that no way of nesting them hides one.
struct HEIFPictures {
    /// Different ones, in no order.
    private(set) var sizes: Set<HEVCPictureSize> = []
    /// Whether pictures are put together of tiles, of which several are decoded at a time.
    private(set) var hasTiles = false

    /// Boxes of a name, and units, beyond which a file means harm.
    private static let (mostBoxes, mostUnits) = (1_000, 100_000)
    private static let tooMany = QRCodecError(.corrupt, message: "The HEIC file has more parts than a picture needs.")

    private let data: UnsafeRawBufferPointer
    private var unitsLeft = Self.mostUnits
    private var bytesLeft: Int

    /// - Throws: ``QRCodecError`` with the code `corrupt`.
    init(_ data: UnsafeRawBufferPointer) throws(QRCodecError) {
        self.data = data
        bytesLeft = 2 * data.count
        hasTiles = try !places("grid").isEmpty
        for place in try places("hvcC") { try readSettings(at: place) }
        let inside = try places("idat")
        for place in try places("iloc") { try readItems(at: place, inside: inside) }
    }

    /// Returns the offsets behind each occurrence of a four-letter name.
    private func places(_ name: String) throws(QRCodecError) -> [Int] {
        let name = Array(name.utf8)
        var (found, start): ([Int], Int) = ([], 0)
        while let base = data.baseAddress, let hit = memchr(base + start, Int32(name[0]), data.count - start) {
            start = UnsafeRawPointer(hit) - base + 1
            guard data[start - 1..<min(start + 3, data.count)].elementsEqual(name) else { continue }
            found.append(start + 3)
            guard found.count <= Self.mostBoxes else { throw Self.tooMany }
        }
        return found
    }

    /// Counts units, items and their parts.
    private mutating func spend(_ count: Int) throws(QRCodecError) {
        unitsLeft -= count
        guard unitsLeft >= 0 else { throw Self.tooMany }
    }

    /// A number of so many bytes, or `nil` behind the end.
    private func number(_ count: Int, at place: inout Int) -> Int? {
        guard count <= 8, place >= 0, count <= data.count - place else { return nil }
        defer { place += count }
        return Int(truncatingIfNeeded: (place..<place + count).reduce(UInt64(0)) { $0 << 8 | UInt64(data[$1]) })
    }

    /// A decoder's settings (ISO/IEC 14496-15, 8.3.3.1): of each type several units, each after its length.
    private mutating func readSettings(at start: Int) throws(QRCodecError) {
        var place = start + 22
        for _ in 0..<(number(1, at: &place) ?? 0) {
            guard number(1, at: &place) != nil, let count = number(2, at: &place) else { return }
            for _ in 0..<count {
                guard let length = number(2, at: &place), length <= data.count - place else { return }
                try take(data[place..<place + length])
                place += length
            }
        }
    }

    /// Reads where the data of items is (ISO/IEC 14496-12, 8.11.3).
    ///
    /// - Parameter inside: Where a box begins that items may lie in, rather than in the file.
    private mutating func readItems(at start: Int, inside: [Int]) throws(QRCodecError) {
        var place = start
        guard let version = number(1, at: &place), number(3, at: &place) != nil, let sizes = number(2, at: &place)
        else { return }
        let (offset, length, base, index) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, sizes & 15)
        for _ in 0..<(number(version < 2 ? 2 : 4, at: &place) ?? 0) {
            guard number(version < 2 ? 2 : 4, at: &place) != nil,
                let method = version == 0 ? 0 : number(2, at: &place), number(2, at: &place) != nil,
                let from = number(base, at: &place), let count = number(2, at: &place)
            else { return }
            // Where numbers have no bytes, the file does not end however many parts it says that there are.
            try spend(1 + count)
            var parts: [(start: Int, length: Int)] = []
            for _ in 0..<count {
                guard version == 0 || number(index, at: &place) != nil, let start = number(offset, at: &place),
                    let length = number(length, at: &place)
                else { return }
                let (sum, isTooLarge) = from.addingReportingOverflow(start)
                if !isTooLarge { parts.append((sum, length)) }
            }
            for origin in method & 15 == 1 ? inside : [0] { try readItem(parts, from: origin) }
        }
    }

    /// An item of a coded picture: units, each after its length of four bytes.
    private mutating func readItem(_ parts: [(start: Int, length: Int)], from origin: Int) throws(QRCodecError) {
        let pieces = parts.map { part in
            let start = min(max(0, part.start), data.count - origin) + origin
            // No length is all that is left.
            let length = part.length > 0 ? part.length : data.count
            return data[start..<start + min(length, data.count - start)]
        }
        guard pieces.count != 1 else { return try readUnits(UnsafeRawBufferPointer(rebasing: pieces[0])) }
        bytesLeft -= pieces.reduce(0) { $0 + $1.count }
        guard bytesLeft >= 0 else { throw Self.tooMany }
        var whole: [UInt8] = []
        for piece in pieces { whole += piece }
        let result: Result<Void, QRCodecError> = whole.withUnsafeBytes { bytes in
            Result { () throws(QRCodecError) in try readUnits(bytes) }
        }
        try result.get()
    }

    private mutating func readUnits(_ item: UnsafeRawBufferPointer) throws(QRCodecError) {
        var place = 0
        while item.count - place >= 4 {
            let length = (place..<place + 4).reduce(0) { $0 << 8 | Int(item[$1]) }
            place += 4
            guard length <= item.count - place else { return }
            try take(item[place..<place + length])
            place += length
        }
    }

    private mutating func take(_ unit: Slice<UnsafeRawBufferPointer>) throws(QRCodecError) {
        try spend(1)
        if let size = try HEVCPictureSize(unit: unit) { sizes.insert(size) }
    }
}
