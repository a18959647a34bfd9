import PNGFiles
import Testing

@testable import QRCodec

@Suite("Drawings of a symbol")
struct DrawingTests {
    private static let payload = Array(Samples.good.utf8)
    private let symbol: QRSymbol

    init() throws {
        symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .high)
    }

    @Test("A plain terminal drawing reads back from a dark background")
    func plainText() throws {
        let text = try symbol.terminalText(colour: false)
        #expect(!text.contains("\u{1B}"))
        let grid = PixelGrid(halfBlocks: text, inkIsDark: false, scale: 4)
        #expect(try QRScanner.scan(grid.image).map(\.bytes) == [Self.payload])
        for (x, y) in [(0, 0), (3, 3), (60, 0), (30, 30)] {
            #expect(grid.dark[((y + 2) * 4) * grid.width + (x + 2) * 4] == symbol[x, y])
        }
    }

    @Test("An inverted plain drawing reads back from a light background")
    func invertedText() throws {
        let text = try symbol.terminalText(colour: false, invert: true)
        let grid = PixelGrid(halfBlocks: text, inkIsDark: true, scale: 4)
        #expect(try QRScanner.scan(grid.image).map(\.bytes) == [Self.payload])
        #expect(!grid.dark[0])
    }

    @Test("A coloured drawing sets black on white in every line and ends it", arguments: [false, true])
    func colouredText(invert: Bool) throws {
        let text = try symbol.terminalText(colour: true, invert: invert)
        let (begin, end) = ("\u{1B}[38;5;16;48;5;231m", "\u{1B}[0m")
        let lines = text.split(separator: "\n")
        #expect(lines.count == symbol.terminalSize().rows)
        #expect(lines.allSatisfy { $0.hasPrefix(begin) && $0.hasSuffix(end) })
        let bare = lines.map { $0.dropFirst(begin.count).dropLast(end.count) }.joined(separator: "\n")
            // Behind full blocks, too, there is black.
            .replacing("\u{1B}[48;5;16m", with: "").replacing("\u{1B}[48;5;231m", with: "")
        #expect(!bare.contains("\u{1B}"))
        let grid = PixelGrid(halfBlocks: bare, inkIsDark: true, scale: 4)
        #expect(try QRScanner.scan(grid.image).map(\.bytes) == [Self.payload])
        #expect(!grid.dark[0])
    }

    @Test("A PNG drawing reads back at every scale", arguments: [1, 2, 3, 5, 8, 13])
    func png(scale: Int) throws {
        let data = try symbol.png(scale: scale)
        #expect(try QRScanner.scan(data).map(\.bytes) == [Self.payload])
        let side = UInt32((61 + 8) * scale)
        #expect(Array(data[16..<24]) == PNGWriter.bigEndian(side) + PNGWriter.bigEndian(side))
        #expect(Array(data[24..<26]) == [1, 0], "one bit of grey")
    }

    @Test("A PNG drawing has exactly the symbol's dark modules, to the pixel", arguments: [1, 3, 7, 8, 9, 64])
    func pixels(scale: Int) throws {
        let drawn = try PNGDecoder.decode(symbol.png(scale: scale), limits: ImageLimits()).image
        try #require(drawn.width == 69 * scale && drawn.height == 69 * scale)
        let wrong = drawn.luminance.indices.filter { index in
            let (x, y) = (index % drawn.width / scale - 4, index / drawn.width / scale - 4)
            return drawn.luminance[index] != (symbol[x, y] ? 0 : 255)
        }
        #expect(wrong.isEmpty, "\(wrong.count) pixels")
    }

    @Test("Senseless measures are put right or refused")
    func measures() throws {
        #expect(try symbol.png(scale: 0, quietZone: -3) == symbol.png(scale: 1, quietZone: 0))
        for (scale, quiet) in [(1_000, 4), (Int.max, 0), (1, Int.max)] {
            let error = #expect(throws: QRCodecError.self) { try symbol.png(scale: scale, quietZone: quiet) }
            #expect(error?.code == .tooLarge)
        }
        #expect(try symbol.svg(scale: .max, quietZone: .max).contains("<svg"))
        #expect(symbol.terminalSize(quietZone: .max).columns > symbol.size)
    }

    @Test("An SVG drawing says what it is, in any words")
    func title() throws {
        let svg = try symbol.svg(title: "a <b> & \u{1B}\"c\" – ü")
        #expect(svg.contains(#"role="img">"#))
        #expect(svg.contains("<title>a &lt;b&gt; &amp; \"c\" – ü</title>"))
        #expect(try symbol.svg().contains("<title>QR code</title>"))
    }

    @Test("An SVG drawing has exactly the symbol's dark modules")
    func svg() throws {
        let svg = try symbol.svg(scale: 5, quietZone: 3)
        #expect(svg.contains(#"width="335" height="335" viewBox="0 0 67 67""#))
        let path = try #require(svg.split(separator: #"d=""#).last?.split(separator: "\"").first)
        var dark = Set<[Int]>()
        for run in path.split(separator: "M") {
            let numbers = run.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
            try #require(numbers.count == 5)
            for x in numbers[0]..<numbers[0] + numbers[2] { dark.insert([x - 3, numbers[1] - 3]) }
        }
        let expected = (0..<61).flatMap { y in (0..<61).filter { symbol[$0, y] }.map { [$0, y] } }
        #expect(dark == Set(expected))
    }
}
