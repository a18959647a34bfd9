import SeededNumbers
import Testing

@testable import QRCodec

@Suite("Perfect drawings of symbols", .onOwnThread)
struct PerfectTests {
    @Test("A thousand random payloads are read, byte for byte", arguments: 0..<10)
    func random(part: Int) throws {
        var generator = SeededGenerator(seed: UInt64(900 + part))
        let corrections: [QRErrorCorrection] = [.low, .medium, .quartile, .high]
        for index in 0..<100 {
            // Mostly what pairing codes have, at times up to the largest.
            let most = index % 10 == 0 ? 1_200 : 300
            let count = Int.random(in: 1...most, using: &generator)
            let bytes: [UInt8] =
                index % 3 == 0
                ? generator.bytes(count)
                : (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
            let correction = corrections[Int.random(in: 0..<4, using: &generator)]
            let symbol = try QRSymbol(bytes: bytes, errorCorrection: correction)
            let scale = Int.random(in: 1...5, using: &generator)
            let quietZone = Int.random(in: 1...6, using: &generator)
            let found = try QRScanner.scan(PixelGrid(symbol, scale: scale, quietZone: quietZone).image)
            let what = "\(part).\(index): version \(symbol.version), \(scale) pixels a module, margin \(quietZone)"
            #expect(found.map(\.bytes) == [bytes], "\(what)")
        }
    }

    /// Bytes that each version holds at the lowest correction (ISO/IEC 18004, table 7).
    private static let capacities = [
        17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858, 929, 1003, 1091,
        1171, 1273, 1367, 1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188, 2303, 2431, 2563, 2699, 2809, 2953,
    ]

    @Test("Symbols of all 40 versions are read", arguments: 1...40)
    func version(_ version: Int) throws {
        var generator = SeededGenerator(seed: UInt64(version))
        let bytes = generator.bytes(Self.capacities[version - 1])
        let symbol = try QRSymbol(bytes: bytes, errorCorrection: .low)
        #expect(symbol.version == version)
        for scale in [1, 3] {
            let found = try QRScanner.scan(PixelGrid(symbol, scale: scale).image)
            #expect(found.map(\.bytes) == [bytes], "\(scale) pixels a module")
        }
    }

    @Test("Small symbols are read with modules of any width", arguments: [1, 2, 4, 6], [0, 4])
    func wide(version: Int, quietZone: Int) throws {
        var generator = SeededGenerator(seed: UInt64(version))
        let bytes = generator.bytes(Self.capacities[version - 1])
        let symbol = try QRSymbol(bytes: bytes, errorCorrection: .low)
        let image = PixelGrid(symbol, scale: 1, quietZone: quietZone).image
        let unread = try (3...64).filter { scale in
            try QRScanner.scan(image.enlarged(by: scale, margin: 0)).map(\.bytes) != [bytes]
        }
        #expect(unread == [], "pixels a module")
    }

    @Test(
        "Payloads come as they are: no byte is taken for a letter of some other alphabet",
        arguments: [
            Array("Grüße aus Zürich, 日本語, Ελληνικά, 🙂".utf8),
            [0x47, 0x72, 0xFC, 0xDF, 0x65],
            Array(0...255) as [UInt8],
            [0x00], [0xEF, 0xBB, 0xBF, 0x61], [0x93, 0xFA, 0x96, 0x7B], [0xFF, 0xFE, 0x00],
            Array("1234567890".utf8), Array("HTTPS://EXAMPLE.ORG/".utf8),
        ] as [[UInt8]]
    )
    func exact(bytes: [UInt8]) throws {
        let symbol = try QRSymbol(bytes: bytes)
        for scale in [1, 2, 4, 9] {
            #expect(try QRScanner.scan(PixelGrid(symbol, scale: scale).image).map(\.bytes) == [bytes])
        }
    }

    /// "Grüße, 日本", and in front of it that its alphabet is UTF-8 (ISO/IEC 18004, 7.4.2).
    private static let named = """
        #######.#.####.#..#######
        #.....#..##.####..#.....#
        #.###.#...####.#..#.###.#
        #.###.#..#.#..##..#.###.#
        #.###.#.#..##..##.#.###.#
        #.....#.#...#.....#.....#
        #######.#.#.#.#.#.#######
        ...........#..#..........
        .#######.####......##...#
        ###.##.....#.####.###..#.
        #..#..##..#####.#.#.#.###
        ##.#.#....##.#.#.....#..#
        ...#..#....##.#...##.####
        #.####.###...#..#.##..##.
        #.##..#.##.#.#.#.#..##.#.
        #.#..#.#.#.#..#.#..#.#..#
        #...#####...##..#####.#.#
        ........####..#.#...###.#
        #######.#.#.#####.#.#.###
        #.....#.#..##.#.#...#.#..
        #.###.#.###...########...
        #.###.#.###.#.#######.###
        #.###.#.#..###.##..###..#
        #.....#.#######.#..#.#.#.
        #######....##....##.#.###
        """

    @Test("A symbol that names its alphabet is read as that says")
    func alphabet() throws {
        let rows = Self.named.split(separator: "\n").map(Array.init)
        let grid = PixelGrid(width: 33 * 3, height: 33 * 3) { x, y in
            let (column, row) = (x / 3 - 4, y / 3 - 4)
            return rows.indices.contains(row) && rows.indices.contains(column) && rows[row][column] == "#"
        }
        #expect(try QRScanner.scan(grid.image).map(\.text) == ["Grüße, 日本"])
    }
}
