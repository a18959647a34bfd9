import SeededNumbers
import Testing

@testable import LineEditor

struct RandomBytesTests {
    private static let pieces: [[UInt8]] = [
        "\u{1B}[A", "\u{1B}[B", "\u{1B}[1;5D", "\u{1B}[3~", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}O", "\u{1B}]",
        "\u{1B}P", "\u{1B}\\",
        "é", "e\u{301}", "漢", "👩‍👩‍👧", "🇩🇪", "\u{200D}", "\u{12}", "\u{14}", "\u{1F}", "\u{19}", "\u{18}\u{5}", "\t", "\\\r",
        "\r", "\u{3}",
    ].map { Array($0.utf8) }

    private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            switch UInt8.random(in: 0...3, using: &generator) {
            case 0: bytes += pieces.randomElement(using: &generator)!
            case 1: bytes.append(.random(in: 0x20...0x7E, using: &generator))
            case 2: bytes.append(.random(in: 0...0x1F, using: &generator))
            default: bytes.append(.random(in: 0...0xFF, using: &generator))
            }
        }
        return bytes
    }

    @Test("100,000 random strings of bytes: the text is valid, the cursor in range, and pieces make no difference")
    func random() async {
        var generator = SeededGenerator(seed: 16)
        for _ in 0..<100_000 {
            await Task.yield()
            let bytes = Self.bytes(&generator)
            var (whole, single) = (LineState(history: ["ab", "c\nd"]), LineState(history: ["ab", "c\nd"]))
            let actions = whole.type(bytes)
            #expect(actions == bytes.flatMap { single.type([$0]) }, "\(bytes)")
            #expect(whole.shown.utf8.elementsEqual(single.shown.utf8), "\(bytes)")
            #expect(whole.limit == single.limit)
            let (cursor, count) = whole.buffer.position
            let text = whole.buffer.text
            let isClean = text.unicodeScalars.allSatisfy {
                $0 == "\n" || $0 == "\t" || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value))
            }
            #expect((0...count).contains(cursor) && isClean, "\(bytes)")
            // Any width can be drawn.
            let columns = Int.random(in: 1...9, using: &generator)
            let layout = LineLayout(prompt: "› ", buffer: whole.buffer, columns: columns, rule: testRule)
            #expect(layout.rows.allSatisfy { $0.width <= columns }, "\(bytes)")
            #expect(layout.cursor.row < layout.rows.count && (0..<columns).contains(layout.cursor.column), "\(bytes)")
        }
    }
}
