import Testing

@testable import QRCodec

@Suite("Drawings are read before they are shown")
struct ProofTests {
    @Test("A drawing that says something else, or nothing, is an error", arguments: [0, 1, 2])
    func wrong(kind: Int) throws {
        let symbol = try QRSymbol(bytes: Array("one".utf8))
        let other = try QRSymbol(bytes: Array("two".utf8))
        let error = #expect(throws: QRCodecError.self) {
            try QRProof.check(symbol) { x, y in
                switch kind {
                case 0: other[x, y]
                case 1: false
                // A third of it is lost: more than its error correction mends.
                default: symbol[x, y] && y < 14
                }
            }
        }
        #expect(error?.code == .encoderFailed)
    }

    @Test("A right one passes, and zbar reads it by itself, at all versions", arguments: 1...40)
    func right(version: Int) throws {
        var generator = SeededGenerator(seed: UInt64(version))
        let most = try #require((1...2_953).last { QRErrorCorrection.low.version(holding: $0) == version })
        for count in [most, most - 1] {
            let bytes = generator.bytes(count)
            let symbol = try QRSymbol(smallest: bytes, atLeast: .low)
            #expect(symbol.version == version)
            #expect(throws: Never.self) { try QRProof.check(symbol) { symbol[$0, $1] } }
            let drawing = QRImage(modules: symbol.size) { symbol[$0, $1] }
            #expect(try ZBarScanner.forQR().scan(drawing).map(\.bytes) == [bytes])
        }
    }
}
