import Discovery
import Testing

@Suite("TXT records")
struct TXTRecordTests {
    private func record(_ strings: String...) -> TXTRecord {
        TXTRecord(strings: strings.map { Array($0.utf8) })
    }

    @Test("Of a repeated key the first value counts, whatever its case")
    func firstValueWins() {
        #expect(record("Key=1", "key=2", "KEY=3").values == ["key": "1"])
    }

    @Test("A key without a value is there, with an empty one")
    func flags() {
        #expect(record("flag", "empty=", "flag=late").values == ["flag": "", "empty": ""])
    }

    @Test("A value keeps its further equals signs and its control characters")
    func values() {
        #expect(record("a=b=c", "esc=\u{1B}[31m\u{0}x").values == ["a": "b=c", "esc": "\u{1B}[31m\u{0}x"])
    }

    @Test("Strings without a key, or with one that is not printable ASCII, are left out")
    func badKeys() {
        #expect(record("", "=x", "ä=1", "a\u{1}=1", "ok=1").values == ["ok": "1"])
    }

    @Test("Bytes that are not UTF-8 are repaired")
    func invalidUTF8() {
        #expect(TXTRecord(strings: [[0x6b, 0x3d, 0xff, 0x61]]).values == ["k": "\u{FFFD}a"])
    }

    @Test("An id of 16 lower-case hex digits is the host's own")
    func advertisedID() {
        #expect(record("id=0123456789abcdef").advertisedID == "0123456789abcdef")
    }

    @Test(
        "Any other id is not",
        arguments: [
            "", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg", "٠123456789abcde",
        ]
    )
    func otherIDs(id: String) {
        #expect(record("id=\(id)").advertisedID == nil)
    }
}
