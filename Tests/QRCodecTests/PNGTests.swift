import PNGFiles
import QRCodec
import SeededNumbers
import Testing

@Suite("PNG images of every kind")
struct PNGTests {
    private static let payload = Array("kinds of PNG".utf8)

    struct Kind: Sendable, CustomTestStringConvertible {
        var depth: Int
        var type: Int
        var interlaced: Bool
        var testDescription: String { "type \(type), \(depth) bits\(interlaced ? ", interlaced" : "")" }
    }

    static let kinds: [Kind] = [
        (0, [1, 2, 4, 8, 16]), (2, [8, 16]), (3, [1, 2, 4, 8]), (4, [8, 16]), (6, [8, 16]),
    ]
    .flatMap { type, depths in
        depths.flatMap { depth in
            [false, true].map { Kind(depth: depth, type: type, interlaced: $0) }
        }
    }

    @Test("Every colour type and bit depth is read, interlaced or not", arguments: kinds)
    func kind(_ kind: Kind) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 3)
        var writer = PNGWriter(width: grid.width, height: grid.height)
        writer.bitDepth = kind.depth
        writer.colourType = kind.type
        writer.isInterlaced = kind.interlaced
        if kind.type == 3 { writer.chunks = [("PLTE", [250, 250, 240, 20, 10, 60])] }
        let most = UInt16((1 << kind.depth) - 1)
        let data = writer.file { x, y in
            let dark = grid.dark[y * grid.width + x]
            let shade: UInt16 = dark ? 0 : most
            return switch kind.type {
            case 2: [shade, shade, shade]
            case 3: [dark ? 1 : 0]
            // Where there is no ink, it is transparent and black beneath: only the alpha channel has the symbol.
            case 4: [0, dark ? most : 0]
            case 6: [0, 0, 0, dark ? most : 0]
            default: [shade]
            }
        }
        let found = try QRScanner.scan(data)
        #expect(found.map(\.bytes) == [Self.payload])
        let box = try #require(found.first?.corners)
        #expect(box.allSatisfy { (9...15).contains($0.x) || (72...78).contains($0.x) }, "\(box)")
    }

    @Test("A transparent colour is white paper", arguments: [0, 2, 3])
    func transparentColour(type: Int) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: 3)
        var writer = PNGWriter(width: grid.width, height: grid.height)
        writer.colourType = type
        // Light modules have the transparent colour, which is nearly that of the ink: only transparency tells them
        // apart.
        writer.chunks =
            switch type {
            case 0: [("tRNS", [0, 7])]
            case 2: [("tRNS", [0, 7, 0, 7, 0, 7])]
            default: [("PLTE", [7, 7, 7, 0, 0, 0]), ("tRNS", [0])]
            }
        let data = writer.file { x, y in
            let dark = grid.dark[y * grid.width + x]
            return switch type {
            case 0: [dark ? 0 : 7]
            case 2: dark ? [0, 0, 0] : [7, 7, 7]
            default: [dark ? 1 : 0]
            }
        }
        #expect(try QRScanner.scan(data).map(\.bytes) == [Self.payload])
    }

    @Test("Several symbols in one picture are all found, from the top")
    func several() throws {
        let payloads = ["first", "second", "third"].map { Array($0.utf8) }
        let grids = try payloads.map { PixelGrid(try QRSymbol(bytes: $0), scale: 4) }
        let side = grids[0].width
        let all = PixelGrid(width: side, height: 3 * side) { x, y in grids[y / side].dark[(y % side) * side + x] }
        #expect(try QRScanner.scan(all.image).map(\.bytes) == payloads)
    }

    @Test("A small symbol in the margin of a large one is found too")
    func smallBesideLarge() throws {
        let payloads = ["large", "small"].map { Array($0.utf8) }
        let large = PixelGrid(try QRSymbol(bytes: payloads[0]), scale: 12)
        let small = PixelGrid(try QRSymbol(bytes: payloads[1]), scale: 2)
        let both = PixelGrid(width: large.width + small.width, height: large.height) { x, y in
            guard x >= large.width else { return large.dark[y * large.width + x] }
            let row = y - (large.height - small.height)
            return row >= 0 && small.dark[row * small.width + x - large.width]
        }
        #expect(try QRScanner.scan(both.image).map(\.bytes) == payloads)
    }

    @Test("A symbol that fills a picture is read with its corners", arguments: [9, 20])
    func filled(scale: Int) throws {
        let symbol = try QRSymbol(bytes: Array(Samples.good.utf8))
        let found = try QRScanner.scan(PixelGrid(symbol, scale: scale).image)
        #expect(found.map(\.text) == [Samples.good])
        expect(found, toSpan: 4 * scale...(4 + symbol.size) * scale, within: scale)
    }

    @Test("A negative is read", arguments: [1, 4])
    func negative(scale: Int) throws {
        let grid = try PixelGrid(QRSymbol(bytes: Self.payload), scale: scale)
        let negative = PixelGrid(width: grid.width, height: grid.height) { x, y in !grid.dark[y * grid.width + x] }
        #expect(try QRScanner.scan(negative.image).map(\.bytes) == [Self.payload])
    }

    @Test("One pixel a module is enough, and corners are those of the picture as it was given", arguments: [0, 2, 4])
    func onePixel(quietZone: Int) throws {
        let symbol = try QRSymbol(bytes: Array(Samples.good.utf8))
        let found = try QRScanner.scan(PixelGrid(symbol, scale: 1, quietZone: quietZone).image)
        #expect(found.map(\.text) == [Samples.good])
        expect(found, toSpan: quietZone...quietZone + symbol.size, within: 1)
    }

    @Test("Noise as strong as the ink is seen through", arguments: [4, 12])
    func noise(scale: Int) throws {
        let symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .quartile)
        let grid = PixelGrid(symbol, scale: scale)
        let side = max(grid.width, 640)
        var generator = SeededGenerator(seed: 12)
        let reach = scale == 4 ? 60 : 110
        let shades = (0..<side * side).map { place in
            let (x, y) = (place % side, place / side)
            let isDark = x < grid.width && y < grid.height && grid.dark[y * grid.width + x]
            let shade = (isDark ? 40 : 215) + Int.random(in: -reach...reach, using: &generator)
            return UInt8(clamping: shade)
        }
        let found = try QRScanner.scan(QRImage(width: side, height: side, luminance: shades))
        #expect(found.map(\.bytes) == [Self.payload])
        expect(found, toSpan: 4 * scale...(4 + symbol.size) * scale, within: scale)
    }

    /// Checks that the corners are those of the square that goes from one bound to the other in both directions.
    private func expect(_ found: [ScannedSymbol], toSpan bounds: ClosedRange<Int>, within slack: Int) {
        let corners = found.first?.corners ?? []
        #expect(corners.count == 4)
        for value in corners.flatMap({ [$0.x, $0.y] }) {
            let distance = min(abs(value - bounds.lowerBound), abs(value - bounds.upperBound))
            #expect(distance <= slack, "\(corners)")
        }
    }

    @Test("A picture without a QR code holds nothing", arguments: [0, 1, 2])
    func nothing(kind: Int) throws {
        var generator = SeededGenerator(seed: 3)
        let noise = generator.bytes(160 * 120)
        let data = PNGWriter(width: 160, height: 120).file { x, y in
            [kind == 0 ? 255 : kind == 1 ? UInt16(noise[y * 160 + x]) : UInt16((x + y) % 256)]
        }
        #expect(try QRScanner.scan(data).isEmpty)
    }

    @Test(
        "Pictures of hardly any pixels hold nothing",
        arguments: [(0, 0), (1, 1), (1, 2_000), (2_000, 1), (0, 9), (3, 3)]
    )
    func tiny(width: Int, height: Int) throws {
        let image = QRImage(width: width, height: height, luminance: [UInt8](repeating: 0, count: width * height))
        #expect(try QRScanner.scan(image).isEmpty)
    }
}
