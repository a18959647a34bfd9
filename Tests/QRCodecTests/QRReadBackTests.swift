import SeededNumbers
import Testing

@testable import QRCodec

@Suite("Drawings are read before they are shown", .onOwnThread)
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

    @Test("A PNG that is cut off or damaged on its way to the file is an error")
    func png() throws {
        let symbol = try QRSymbol(bytes: Array("one".utf8))
        let file = try symbol.png(scale: 3)
        #expect(throws: Never.self) { try symbol.check(file, scale: 3, quietZone: QRSymbol.quietZone) }
        for count in [0, 8, 40, file.count / 2, file.count - 13] {
            #expect(throws: QRCodecError.self, "\(count) bytes") {
                try symbol.check(Array(file.prefix(count)), scale: 3, quietZone: QRSymbol.quietZone)
            }
        }
        let other = try QRSymbol(bytes: Array("two".utf8)).png(scale: 3)
        #expect(throws: QRCodecError.self) { try symbol.check(other, scale: 3, quietZone: QRSymbol.quietZone) }
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
                let read = try ZBarScanner.forQR().scan(QRImage(modules: symbol.size) { symbol[$0, $1] })
                #expect(read.map(\.bytes) == [bytes])
            }
        }
    }
}
