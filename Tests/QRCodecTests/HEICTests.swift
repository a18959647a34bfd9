import Testing

@testable import QRCodec

@Suite("HEIC images that say one thing and are another", .onOwnThread)
struct HEICTests {
    private static let payload = Array("formats".utf8)

    /// A picture of 87 pixels a side, put together of one tile of 88.
    private static func tiled() throws -> [UInt8] {
        let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return try ImageFile.bytes(ofFile: folder + "/DecoderFuzz/Regressions/odd-sides.heic")
    }

    private static func code(_ file: [UInt8], _ limits: ImageLimits = .default) -> QRCodecError.Code? {
        #expect(throws: QRCodecError.self) { try QRScanner.scan(file, limits: limits) }?.code
    }

    @Test("A canvas larger than the header says is refused, however narrow that claims to be", arguments: [1, 87])
    func canvas(height: Int) throws {
        let file = try HEICFile.canvas(14_000, 14_000, in: HEICFile.claiming(14_000, height, in: Self.tiled()))
        #expect(Self.code(file) == .tooLarge)
        // Short of the limit's root it is decoded, and holds no symbol.
        let small = try HEICFile.canvas(300, 300, in: HEICFile.claiming(300, height, in: Self.tiled()))
        #expect(Self.code(small, ImageLimits(maxWorkingBytes: 364 * 364 * 7 - 1)) == .tooLarge)
        #expect(Self.code(small, ImageLimits(maxPixels: 300 * 300 - 1)) == .tooLarge)
        #expect(throws: Never.self) {
            try QRScanner.scan(small, limits: ImageLimits(maxPixels: 300 * 300, maxWorkingBytes: 364 * 364 * 7))
        }
    }

    @Test("A coded picture larger than the header says is refused")
    func coded() throws {
        let honest = try HEICFile(width: 1_024, height: 768, quality: 1).bytes { _, _ in false }
        let file = try HEICFile.claiming(64, 64, in: honest)
        #expect(Self.code(file, ImageLimits(maxWorkingBytes: 1_024 * 768 * 7 - 1)) == .tooLarge)
        #expect(try QRScanner.scan(file, limits: ImageLimits(maxWorkingBytes: 1_024 * 768 * 7)).isEmpty)
    }

    @Test("Several tiles are decoded at a time, so each may take a part of the memory only")
    func tiles() throws {
        let file = try Self.tiled()
        let needed = 88 * 88 * 7 * 4
        #expect(Self.code(file, ImageLimits(maxWorkingBytes: needed - 1)) == .tooLarge)
        #expect(throws: Never.self) { try QRScanner.scan(file, limits: ImageLimits(maxWorkingBytes: needed)) }
    }

    @Test("More than eight bits a channel count twice and more")
    func deep() throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 4)
        let file = try HEICFile(width: 116, height: 116, bits: 10).bytes { grid.dark[$1 * 116 + $0] }
        let needed = (116 + 64) * (116 + 64) * 15
        #expect(Self.code(file, ImageLimits(maxWorkingBytes: needed - 1)) == .tooLarge)
        let found = try QRScanner.scan(file, limits: ImageLimits(maxWorkingBytes: needed))
        #expect(found.map(\.bytes) == [Self.payload])
    }

    @Test("The largest photographs of telephones that write HEIC, of 48 megapixels, are read")
    func large() throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 30)
        let picture = HEICFile(width: 8_064, height: 6_048, drawn: grid.width)
        let file = try picture.bytes { grid.dark[$1 * grid.width + $0] }
        #expect(try QRScanner.scan(file).map(\.bytes) == [Self.payload])
    }
}

@Suite("What a HEIC file says of its coded pictures")
struct HEIFPicturesTests {
    /// A sequence parameter set (ITU-T H.265, 7.3.2.2) as far as it is read.
    private static func unit(
        _ width: Int,
        _ height: Int,
        bits: Int = 8,
        layers: Int = 0,
        isCropped: Bool = false,
        chroma: Int = 1
    ) -> [UInt8] {
        var written: [Int] = []
        func put(_ value: Int, _ count: Int) { written += (0..<count).reversed().map { value >> $0 & 1 } }
        func putExponential(_ value: Int) {
            let length = Int.bitWidth - (value + 1).leadingZeroBitCount
            put(0, length - 1)
            put(value + 1, length)
        }
        put(0, 4)
        put(layers, 3)
        put(1, 1)
        // Zeros, between which bytes are put that keep start codes out.
        for _ in 0..<12 { put(0, 8) }
        if layers > 0 {
            for layer in 0..<8 { put(layer < layers ? 3 : 0, 2) }
            for _ in 0..<layers * 12 { put(0x5A, 8) }
        }
        putExponential(0)
        putExponential(chroma)
        if chroma == 3 { put(0, 1) }
        putExponential(width)
        putExponential(height)
        put(isCropped ? 1 : 0, 1)
        if isCropped { for side in 0..<4 { putExponential(side) } }
        putExponential(0)
        putExponential(bits - 8)
        put(1, 8 - written.count % 8)
        var (bytes, zeros): ([UInt8], Int) = ([0x42, 0x01], 0)
        for start in stride(from: 0, to: written.count, by: 8) {
            let byte = written[start..<start + 8].reduce(0) { $0 << 1 | UInt8($1) }
            if zeros == 2, byte <= 3 {
                bytes.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }

    private static func sizes(_ file: [UInt8]) throws -> Set<HEVCPictureSize> {
        try file.withUnsafeBytes { try HEIFPictures($0).sizes }
    }

    /// Settings of a decoder that hold units.
    private static func settings(_ units: [[UInt8]]) -> [UInt8] {
        let parts = units.map { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
        return Array("hvcC".utf8) + [UInt8](repeating: 0, count: 22) + [1, 0x21, 0, UInt8(units.count)]
            + parts.flatMap(\.self)
    }

    @Test("Sizes and bits are read from a decoder's settings, whatever comes before them")
    func inSettings() throws {
        let file = Self.settings([
            [0x40, 0x01, 1, 2, 3], Self.unit(4_032, 3_024), Self.unit(512, 512, layers: 2),
            Self.unit(640, 480, bits: 10, isCropped: true), Self.unit(16_384, 16_384, chroma: 3),
        ])
        let found = try Self.sizes(file).map { [$0.width, $0.height, $0.bits] }
        #expect(Set(found) == [[4_032, 3_024, 8], [512, 512, 8], [640, 480, 10], [16_384, 16_384, 8]])
        #expect(try Self.sizes(Array(file.dropLast(5))).count == 3)
    }

    @Test("They are found among the picture's own data too, in the file or in a box, whole or in parts")
    func inItems() throws {
        let unit = Self.unit(9_000, 9_000)
        let data: [UInt8] = [0, 0, 0, 2, 0x28, 0x01, 0, 0, 0, UInt8(unit.count)] + unit
        let (first, rest) = (UInt8(7), UInt8(data.count - 7))
        // One part, and two; each by its place in the file.
        for parts in [[[8, UInt8(data.count)]], [[8, first], [15, rest]], [[8, 0]]] as [[[UInt8]]] {
            let extents = parts.flatMap { part -> [UInt8] in [0, 0, 0, part[0], 0, 0, 0, part[1]] }
            let start: [UInt8] = [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, UInt8(parts.count)]
            let places = Array("iloc".utf8) + start + extents
            #expect(try Self.sizes(Array("mdat....".utf8) + data + places).map(\.width) == [9_000], "\(parts)")
        }
        // In a box, after its beginning.
        let start: [UInt8] = [1, 0, 0, 0, 0x44, 0x40, 0, 1, 0, 1, 0, 1, 0, 0]
        let extent: [UInt8] = [0, 0, 0, 2, 0, 1, 0, 0, 0, 1, 0, 0, 0, UInt8(data.count)]
        let places = Array("iloc".utf8) + start + extent
        #expect(try Self.sizes(places + Array("idat...".utf8) + data).map(\.width) == [9_000])
    }

    @Test("What does not tell a size, and more parts than pictures need, are refused")
    func refused() throws {
        let stub = Self.settings([Array(Self.unit(64, 64).prefix(12))])
        let boxes = [[UInt8]](repeating: Array("hvcC".utf8), count: 1_001).flatMap(\.self)
        let extents = Array("iloc".utf8) + [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        // Parts that take no bytes of the file.
        let item: [UInt8] = [0, 1, 0, 0, 0xFF, 0xFF]
        let endless = Array("iloc".utf8) + [0, 0, 0, 0, 0, 0, 0, 100] + (0..<100).flatMap { _ in item }
        for file in [stub, boxes, endless, [UInt8](repeating: 0, count: 500_000) + extents] {
            let error = #expect(throws: QRCodecError.self) { try Self.sizes(file) }
            #expect(error?.code == .corrupt)
        }
    }
}
