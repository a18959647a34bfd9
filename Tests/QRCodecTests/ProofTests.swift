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

    @Test("A right one passes, at all versions", arguments: stride(from: 1, through: 2_953, by: 41).map(\.self))
    func right(count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let symbol = try QRSymbol(smallest: generator.bytes(count), atLeast: .low)
        #expect(throws: Never.self) { try QRProof.check(symbol) { symbol[$0, $1] } }
    }
}
