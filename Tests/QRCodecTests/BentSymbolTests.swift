import SeededNumbers
import Testing

@testable import QRCodec

@Suite("Symbols on paper that does not lie flat", .onOwnThread)
struct BentSymbolTests {
    @Test("Versions 7 to 15, large and crisp, bent in five ways", arguments: 7...15, BentPaper.allCases)
    func bent(version: Int, paper: BentPaper) throws {
        var generator = SeededGenerator(seed: UInt64(version))
        let payload = generator.bytes(QRErrorCorrection.low.capacities[version - 1])
        let symbol = try QRSymbol(bytes: payload, errorCorrection: .low)
        #expect(symbol.version == version)
        let found = try QRScanner.scan(paper.image(of: symbol, module: 7))
        // As one condition: a thousand bytes in a message help nobody.
        let isRead = found.map(\.bytes) == [payload]
        #expect(isRead)
        #expect(found.first?.corners.count == 4)
    }
}
