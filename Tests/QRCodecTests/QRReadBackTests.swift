import Testing

@testable import QRCodec

@Suite("Drawings are read before they are shown")
struct QRReadBackTests {
    @Test("A drawing that says something else, or nothing, is an error", arguments: [0, 1, 2])
    func wrong(kind: Int) throws {
        let symbol = try QRSymbol(bytes: Array("one".utf8))
        let other = try QRSymbol(bytes: Array("two".utf8))
        let error = #expect(throws: QRCodecError.self) {
            try QRReadBack.check(symbol) { x, y in
                switch kind {
                case 0: other[x, y]
                case 1: false
                // A third of it is lost.
                default: symbol[x, y] && y < 14
                }
            }
        }
        #expect(error?.code == .encoderFailed)
    }

    @Test(
        "One module that is wrong is enough, in the symbol or in the margin around it",
        arguments: [(3, QRErrorCorrection.high), (60, .medium), (140, .low), (250, .quartile)]
    )
    func oneModule(count: Int, level: QRErrorCorrection) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let symbol = try QRSymbol(bytes: generator.bytes(count), errorCorrection: level)
        var passed: [Point] = []
        for y in -4..<symbol.size + 4 {
            for x in -4..<symbol.size + 4 {
                let isPassed = (try? QRReadBack.check(symbol) { symbol[$0, $1] != (($0, $1) == (x, y)) }) != nil
                if isPassed { passed.append(Point(x: x, y: y)) }
            }
        }
        #expect(passed.isEmpty, "\(passed)")
    }

    @Test("A right one passes, at all versions", arguments: 1...40)
    func right(version: Int) throws {
        var generator = SeededGenerator(seed: UInt64(version))
        for level in QRErrorCorrection.allCases {
            let most = level.capacities[version - 1]
            for count in [most, most - 1] {
                let bytes = generator.bytes(count)
                let symbol = try QRSymbol(bytes: bytes, errorCorrection: level)
                #expect(symbol.version == version)
                #expect(throws: Never.self) { try QRReadBack.check(symbol) { symbol[$0, $1] } }
            }
        }
    }
}
