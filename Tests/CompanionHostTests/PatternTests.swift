import CompanionHost
import Testing

@Suite("Text helpers of the agents")
struct PatternTests {
    @Test(
        "Globs match whole names",
        arguments: [
            ("*.swift", "Main.SWIFT", true), ("*.swift", "a.swiftx", false), ("a?c", "abc", true), ("a?c", "ac", false),
            ("*", "", true), ("", "", true), ("", "a", false), ("a*b*c", "axxbyyc", true), ("a*b*c", "axxc", false),
            ("*a*a*a*a*a*a*a*a*b", String(repeating: "a", count: 200), false),
        ]
    )
    func globs(pattern: String, name: String, matches: Bool) {
        #expect(Glob(pattern).matches(name) == matches)
    }

    @Test(
        "UTF-8 comes out the same however it is cut",
        arguments: ["aé€🚀z", "🚀🚀", "\u{0}\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}"]
    )
    func decoder(text: String) {
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var decoder = UTF8StreamDecoder()
            var pieces: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                pieces.append(decoder.decode(bytes[start..<min(start + size, bytes.count)]))
            }
            pieces.append(decoder.finish())
            #expect(pieces.joined() == text)
            #expect(!pieces.contains { $0.contains("\u{fffd}") })
        }
    }

    @Test(
        "Bytes that are no UTF-8 are repaired, one byte at a time or at once",
        arguments: [
            [0xff], [0x80, 0x80], [0xc3], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0xe2, 0x82, 0x62],
            [0xf5, 0x80],
        ] as [[UInt8]]
    )
    func repair(bytes: [UInt8]) {
        let whole = String(decoding: bytes, as: UTF8.self)
        var decoder = UTF8StreamDecoder()
        #expect(decoder.decodeAll(bytes) == whole)
        var text = ""
        for byte in bytes { text += decoder.decodeOne(byte) }
        #expect(text + decoder.end() == whole)
    }
}

extension UTF8StreamDecoder {
    fileprivate mutating func decodeAll(_ bytes: [UInt8]) -> String { decode(bytes) + finish() }
    fileprivate mutating func decodeOne(_ byte: UInt8) -> String { decode([byte]) }
    fileprivate mutating func end() -> String { finish() }
}
