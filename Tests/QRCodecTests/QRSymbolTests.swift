import QRCodec
import SeededNumbers
import Testing

@Suite("Symbols from bytes, and back")
struct QRSymbolTests {
    @Test(
        "Random bytes come back exactly, at every correction level and at lengths for all versions",
        arguments: QRErrorCorrection.allCases
    )
    func roundTrip(level: QRErrorCorrection) throws {
        var generator = SeededGenerator(seed: 18_004)
        var versions: Set<Int> = []
        for step in 1...24 {
            let bytes = generator.bytes(max(1, level.maxBytes * step * step / 576))
            let symbol = try QRSymbol(bytes: bytes, errorCorrection: level)
            versions.insert(symbol.version)
            let found = try QRScanner.scan(PixelGrid(symbol, scale: 4).image)
            #expect(found.map(\.bytes) == [bytes], "\(bytes.count) bytes, version \(symbol.version)")
        }
        #expect(versions.contains(40))
        #expect(versions.count >= 20)
    }

    @Test(
        "Bytes that no text has come back unchanged",
        arguments: [
            [0], [0, 0, 0], [0xFF, 0xFE, 0x00, 0x01], Array(0...255), [0xC3, 0x28], [0x83, 0x65, 0x83, 0x58],
            Array("Grüße, 世界 🚀".utf8), [0xEF, 0xBB, 0xBF, 0x41], Array("12345678".utf8), Array("ABC 123".utf8),
        ] as [[UInt8]]
    )
    func binary(bytes: [UInt8]) throws {
        let found = try QRScanner.scan(QRSymbol(bytes: bytes).png())
        #expect(found.map(\.bytes) == [bytes])
        #expect(found.first?.text == String(validating: bytes, as: UTF8.self))
    }

    @Test(
        "The smallest version that holds the bytes is taken, by the standard's table",
        arguments: [
            (QRErrorCorrection.low, 17, 1), (.low, 18, 2), (.high, 7, 1), (.high, 8, 2), (.medium, 180, 9),
            (.medium, 181, 10), (.quartile, 130, 9), (.low, 1_367, 26), (.low, 1_368, 27), (.high, 1_273, 40),
            (.low, 2_953, 40), (.medium, 2_331, 40), (.quartile, 1_663, 40),
        ]
    )
    func version(level: QRErrorCorrection, count: Int, version: Int) throws {
        let symbol = try QRSymbol(bytes: [UInt8](repeating: 0xA5, count: count), errorCorrection: level)
        #expect(symbol.version == version)
        #expect(symbol.size == 17 + 4 * version)
        #expect(symbol.errorCorrection == level)
    }

    @Test("One byte more than the largest symbol holds is too long", arguments: QRErrorCorrection.allCases)
    func tooLong(level: QRErrorCorrection) {
        let error = #expect(throws: QRCodecError.self) {
            try QRSymbol(bytes: [UInt8](repeating: 0xA5, count: level.maxBytes + 1), errorCorrection: level)
        }
        #expect(error?.code == .payloadTooLong)
    }

    @Test("Nothing makes no symbol")
    func empty() {
        let error = #expect(throws: QRCodecError.self) { try QRSymbol(bytes: []) }
        #expect(error?.code == .empty)
    }

    @Test("Modules outside the symbol are light")
    func outside() throws {
        let symbol = try QRSymbol(bytes: [1])
        #expect(symbol[0, 0])
        #expect(!symbol[-1, 0] && !symbol[0, -1] && !symbol[symbol.size, 0] && !symbol[0, symbol.size])
    }
}
