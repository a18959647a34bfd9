import SeededNumbers
import Testing

@testable import QRCodec

@Suite("What is tried once the finder patterns led to nothing", .onOwnThread)
struct LastStagesTests {
    /// A symbol of whose finder patterns only a cross is left: the ring's corners are gone.
    private static func crossed(_ payload: [UInt8], scale: Int) throws -> QRImage {
        let symbol = try QRSymbol(bytes: payload)
        let last = symbol.size - 7
        return PixelGrid(width: (symbol.size + 8) * scale, height: (symbol.size + 8) * scale) { x, y in
            let (column, row) = (x / scale - 4, y / scale - 4)
            for (left, top) in [(0, 0), (last, 0), (0, last)] {
                let (across, down) = (abs(column - left - 3), abs(row - top - 3))
                guard max(across, down) == 3 else { continue }
                if min(across, down) > 0 { return false }
            }
            return symbol[column, row]
        }
        .image
    }

    @Test("What zbar reads by itself in the whole picture is read", arguments: [3, 6, 12, 30])
    func whole(scale: Int) throws {
        let payload = Array(Samples.good.utf8)
        let image = try Self.crossed(payload, scale: scale)
        #expect(try ZBarScanner.forQR().scan(image).map(\.bytes) == [payload])
        #expect(try QRScanner.scan(image).map(\.bytes) == [payload])
        // It takes too long for one of thirty pictures a second, and shows that no other stage reads this one.
        #expect(try QRScanner.scan(frame: image) { _ in true }.symbols.isEmpty)
    }

    @Test("Of a message in several symbols, one by itself says its part")
    func part() throws {
        let rows = Self.secondPart.split(separator: "\n").map(Array.init)
        let image = PixelGrid(width: 29 * 4, height: 29 * 4) { x, y in
            let (column, row) = (x / 4 - 4, y / 4 - 4)
            return rows.indices.contains(row) && rows[row].indices.contains(column) && rows[row][column] == "#"
        }
        .image
        #expect(try QRScanner.scan(image).map(\.text) == ["ld; hello"])
    }

    /// The second of two symbols of version 1 that together say "hello, world; hello".
    private static let secondPart = """
        #######.####..#######
        #.....#.#..##.#.....#
        #.###.#.#.##..#.###.#
        #.###.#..#.##.#.###.#
        #.###.#.##..#.#.###.#
        #.....#...###.#.....#
        #######.#.#.#.#######
        .........####........
        #..######...##..#.###
        ..##.#.#.#..###.#.#.#
        #...#.####.....######
        ##..#..##..#.#...#.#.
        ...##.#..##...#.#.#.#
        ........#.#.#.#..##..
        #######.#.#.#####....
        #.....#.#.#.##...#.##
        #.###.#.#.###.##.##.#
        #.###.#.##...#.#..##.
        #.###.#...#..#.#.#.##
        #.....#...#....####..
        #######.##.###.##.##.
        """

    @Test("Noise says nothing", arguments: 0..<12 as Range<UInt64>)
    func noise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // Coarse and fine, with finder patterns that make it a symbol's: all that is tried is tried.
        let (size, scale) = (17 + 4 * Int(seed % 8 + 1), Int(seed % 3) + 3)
        let modules = (0..<size * size).map { _ in Bool.random(using: &generator) }
        let image = PixelGrid(width: (size + 8) * scale, height: (size + 8) * scale) { x, y in
            let (column, row) = (x / scale - 4, y / scale - 4)
            guard column >= 0, row >= 0, column < size, row < size else { return false }
            for (left, top) in [(0, 0), (size - 7, 0), (0, size - 7)] {
                let ring = max(abs(column - left - 3), abs(row - top - 3))
                if ring <= 4 { return ring != 2 && ring != 4 }
            }
            return modules[row * size + column]
        }
        .image
        #expect(try QRScanner.scan(image).isEmpty)
    }

    @Test("A damaged symbol says what it said, or nothing", arguments: 1...10)
    func damaged(tenths: Int) throws {
        let payload = Array(Samples.good.utf8)
        let symbol = try QRSymbol(bytes: payload, errorCorrection: .low)
        for (index, paper) in BentPaper.allCases.enumerated() {
            var generator = SeededGenerator(seed: UInt64(100 * tenths + index))
            var image = paper.image(of: symbol, module: 5)
            for _ in 0..<tenths * 12 {
                let (x, y) = (
                    Int.random(in: 0..<image.width - 12, using: &generator),
                    Int.random(in: 0..<image.height - 12, using: &generator)
                )
                let shade: UInt8 = Bool.random(using: &generator) ? 30 : 225
                for row in y..<y + 12 {
                    for column in x..<x + 12 { image.luminance[row * image.width + column] = shade }
                }
            }
            let isTrue = try QRScanner.scan(image).allSatisfy { $0.bytes == payload }
            #expect(isTrue, "\(paper)")
        }
    }
}
