import CompanionHost
import Testing

@Suite("Text helpers of the agents")
struct PatternTests {
    @Test(
        "Patterns match what regular expressions match",
        arguments: [
            ("abc", "xxabcxx", true), ("a.c", "abc", true), ("a.c", "ac", false), ("^a", "ba", false),
            ("a$", "ba", true),
            ("^$", "", true), ("a*b", "aaab", true), ("a+b", "b", false), ("a?b", "b", true), ("(ab)+c", "ababc", true),
            ("a|b|c", "c", true), ("[a-c]x", "bx", true), ("[^a-c]x", "bx", false), ("[]x]", "]", true),
            ("a{2}", "aa", true),
            ("^a{2,3}$", "aaaa", false), ("^a{2,}$", "aaaa", true), (#"\d+"#, "a1", true),
            (#"\bfoo\b"#, "a foo.", true),
            (#"\bfoo\b"#, "afoo", false), (#"\."#, "a", false), ("(?:a|b)c", "bc", true), ("a{x", "a{x", true),
            ("é", "caf\u{e9}", true), (#"[\d_]"#, "_", true), ("a*?b", "aab", true), ("", "x", true),
            (#"\S"#, "  ", false),
        ]
    )
    func patterns(pattern: String, line: String, matches: Bool) throws {
        #expect(try LinePattern(pattern).matches(Array(line.unicodeScalars)) == matches)
    }

    @Test(
        "What is not understood is refused",
        arguments: [
            "(", ")", "[", "*a", "a\\", "(?=a)", #"\k"#, "a{201}", "a{3,2}", "[z-a]", "((((((((((((((((((((((a",
            "((a{200}){200}){200}", "(){200}{200}{200}{200}{200}{200}", "(|){200}{200}{200}{200}",
        ]
    )
    func refused(pattern: String) {
        #expect(throws: LinePattern.SyntaxError.self) { try LinePattern(pattern) }
    }

    @Test("Repetition within the limits is understood")
    func largePattern() throws {
        let pattern = try LinePattern("^(((a){200})|()){9}$")
        #expect(pattern.matches(Array(String(repeating: "a", count: 1800).unicodeScalars)))
        #expect(!pattern.matches(Array(String(repeating: "a", count: 1799).unicodeScalars)))
    }

    @Test("A single line can be stopped in its middle", arguments: ["(a{200}){9}b", "[b-cd-ef-gh-ij-kl-m]{200}x|a*b"])
    func stopped(pattern: String) throws {
        let line = [Unicode.Scalar](repeating: "a", count: 2000)
        let compiled = try LinePattern(pattern)
        #expect(compiled.matches(line) { true } == nil)
        #expect(compiled.matches(line) { false } == false)
        var questions = 0
        _ = compiled.matches(line) {
            questions += 1
            return questions == 3
        }
        #expect(questions == 3)
    }

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
    func carry(text: String) {
        let bytes = Array(text.utf8)
        for size in 1...bytes.count {
            var carry = UTF8Carry()
            var pieces: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                pieces.append(carry.decode(bytes[start..<min(start + size, bytes.count)]))
            }
            pieces.append(carry.finish())
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
        var carry = UTF8Carry()
        #expect(carry.decodeAll(bytes) == whole)
        var text = ""
        for byte in bytes { text += carry.decodeOne(byte) }
        #expect(text + carry.end() == whole)
    }
}

extension UTF8Carry {
    fileprivate mutating func decodeAll(_ bytes: [UInt8]) -> String { decode(bytes) + finish() }
    fileprivate mutating func decodeOne(_ byte: UInt8) -> String { decode([byte]) }
    fileprivate mutating func end() -> String { finish() }
}
