import QRCodec
import Testing

@Suite("Drawings on terminals", .onOwnThread)
struct TerminalDrawingTests {
    private static let payload = Array(Samples.good.utf8)
    private static let large = [UInt8](repeating: 0x61, count: 300)

    @Test(
        "In every style, with colour or without, what the terminal shows is read",
        arguments: QRTerminalStyle.allCases,
        [(true, false), (false, false), (false, true)]
    )
    func shown(style: QRTerminalStyle, look: (colour: Bool, invert: Bool)) throws {
        for bytes in [Self.payload, Self.large, Array("x".utf8)] {
            for quietZone in [1, 2, 4] {
                let symbol = try QRSymbol(smallest: bytes, atLeast: .low)
                let text = try symbol.terminalText(
                    style,
                    quietZone: quietZone,
                    colour: look.colour,
                    invert: look.invert
                )
                let size = symbol.terminalSize(style, quietZone: quietZone)
                let screen = TerminalScreen(text, inkIsDark: look.colour || look.invert)
                #expect(screen.lines.count == size.rows)
                #expect(screen.lines.allSatisfy { $0.count == size.columns })
                // Around the drawing is the terminal, which is dark or light.
                for shade in [0, 255] as [UInt8] {
                    let found = try QRScanner.scan(Self.framed(screen.image, in: shade))
                    #expect(found.map(\.bytes) == [bytes], "quiet zone \(quietZone), shade \(shade)")
                }
            }
        }
    }

    private static func framed(_ image: QRImage, in shade: UInt8) -> QRImage {
        let margin = 40
        let (width, height) = (image.width + 2 * margin, image.height + 2 * margin)
        var shades = [UInt8](repeating: shade, count: width * height)
        for y in 0..<image.height {
            for x in 0..<image.width {
                shades[(y + margin) * width + x + margin] = image.luminance[y * image.width + x]
            }
        }
        return QRImage(width: width, height: height, luminance: shades)
    }

    @Test(
        "The drawing has the size that is announced, with or without a margin, and every line has an end",
        arguments: QRTerminalStyle.allCases,
        [0, 1, 2, 4]
    )
    func size(style: QRTerminalStyle, quietZone: Int) throws {
        let symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .high)
        let size = symbol.terminalSize(style, quietZone: quietZone)
        let text = try symbol.terminalText(style, quietZone: quietZone, colour: false)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == size.rows + 1 && lines.last == "")
        #expect(lines.dropLast().allSatisfy { $0.count == size.columns })
    }

    struct Window: Sendable {
        var columns: Int?
        var rows: Int?
        var style: QRTerminalStyle
        var quietZone: Int
    }

    /// For a symbol of 45 modules.
    private static let windows = [
        Window(style: .halves, quietZone: 2), Window(columns: 49, rows: 25, style: .halves, quietZone: 2),
        Window(columns: 48, rows: 25, style: .halves, quietZone: 1),
        Window(columns: 80, rows: 24, style: .halves, quietZone: 1),
        Window(columns: 46, rows: 25, style: .quadrants, quietZone: 2),
        Window(columns: 24, rows: 24, style: .quadrants, quietZone: 1),
        Window(columns: 80, rows: 22, style: .sextants, quietZone: 2),
        Window(columns: 25, rows: 16, style: .sextants, quietZone: 1),
        Window(columns: 24, rows: 16, style: .sextants, quietZone: 1),
        Window(columns: 46, style: .quadrants, quietZone: 2), Window(rows: 22, style: .sextants, quietZone: 2),
    ]

    @Test("Each window gets the best drawing that it has room for", arguments: windows)
    private func window(_ window: Window) throws {
        let symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .low)
        try #require(symbol.size == 45)
        let drawing = try symbol.terminalDrawing(colour: true, columns: window.columns, rows: window.rows)
        #expect(drawing.style == window.style)
        #expect(drawing.quietZone == window.quietZone)
        #expect(TerminalScreen(drawing.text, inkIsDark: true).lines.count <= window.rows ?? .max)
        let found = try QRScanner.scan(TerminalScreen(drawing.text, inkIsDark: true).image)
        #expect(found.map(\.bytes) == [Self.payload])
    }

    @Test(
        "A window too small for all of them is refused, with both sizes",
        arguments: [(23, 40), (80, 15), (5, 5), (20, nil), (nil, 5)] as [(Int?, Int?)]
    )
    func tooSmall(columns: Int?, rows: Int?) throws {
        let symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .low)
        let error = #expect(throws: QRCodecError.self) {
            try symbol.terminalDrawing(colour: true, columns: columns, rows: rows)
        }
        #expect(error?.code == .windowTooSmall)
        #expect(error?.message.contains("24 columns and 16 rows") == true)
        let present = [columns.map { "\($0) columns" }, rows.map { "\($0) rows" }].compactMap(\.self)
        #expect(error?.message.contains("the window has \(present.joined(separator: " and ")).") == true)
    }

    @Test("A terminal that has half blocks only gets no others")
    func console() throws {
        let symbol = try QRSymbol(bytes: Self.payload, errorCorrection: .low)
        let error = #expect(throws: QRCodecError.self) {
            try symbol.terminalDrawing(colour: true, columns: 40, rows: 40, styles: [.halves])
        }
        #expect(error?.message.contains("47 columns and 24 rows") == true)
    }

    @Test("No two combinations of modules share a character", arguments: QRTerminalStyle.allCases)
    func characters(style: QRTerminalStyle) throws {
        let size = try QRSymbol(bytes: [1]).terminalSize(style, quietZone: 0)
        #expect(size.columns * (style == .halves ? 1 : 2) >= 21)
        // Fifty symbols have every combination somewhere, and all read back.
        for number in 0..<50 as Range<UInt8> {
            let symbol = try QRSymbol(bytes: [number, 200, number &* 5])
            #expect(throws: Never.self) { try symbol.terminalText(style, colour: false) }
        }
    }

    @Test(
        "The strongest error correction is taken that makes a symbol no larger",
        arguments: [1, 2, 5, 9, 10, 17, 26, 27, 39, 40]
    )
    func smallest(version: Int) throws {
        for level in QRErrorCorrection.allCases {
            // The fewest bytes that need this version, found by the encoder itself.
            var (low, count) = (1, level.maxBytes)
            while low < count {
                let middle = (low + count) / 2
                if try Self.version(middle, level) < version { low = middle + 1 } else { count = middle }
            }
            for count in [count, max(1, count - 1)] where count <= level.maxBytes {
                let bytes = [UInt8](repeating: 0xA5, count: count)
                let symbol = try QRSymbol(smallest: bytes, atLeast: level)
                #expect(symbol.version == (try Self.version(count, level)))
                let stronger = QRErrorCorrection.allCases.drop { $0 != symbol.errorCorrection }.dropFirst().first
                if let stronger, count <= stronger.maxBytes {
                    #expect(try Self.version(count, stronger) > symbol.version)
                }
            }
        }
    }

    private static func version(_ count: Int, _ level: QRErrorCorrection) throws -> Int {
        try QRSymbol(bytes: [UInt8](repeating: 0xA5, count: count), errorCorrection: level).version
    }

    @Test("Too many bytes for the weakest level that was asked for are refused", arguments: QRErrorCorrection.allCases)
    func tooLong(level: QRErrorCorrection) {
        let error = #expect(throws: QRCodecError.self) {
            try QRSymbol(smallest: [UInt8](repeating: 1, count: level.maxBytes + 1), atLeast: level)
        }
        #expect(error?.code == .payloadTooLong)
    }
}
