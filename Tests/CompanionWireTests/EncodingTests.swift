import CompanionWire
import Testing

@Suite struct EncodingTests {
    @Test(
        "Bytes that are written as a percent sign and two hex digits are read, and nothing like it",
        arguments: [
            ("", []), ("a%2Bb", [0x61, 0x2B, 0x62]), ("%ff%00", [0xFF, 0x00]), ("+", [0x2B]), ("é", [0xC3, 0xA9]),
            ("%", nil), ("%4", nil), ("%+5", nil), ("% 5", nil), ("%4é", nil), ("a%ZZ", nil),
        ] as [(Substring, [UInt8]?)]
    )
    func percent(text: Substring, bytes: [UInt8]?) {
        #expect(percentDecoded(text) == bytes)
    }

    @Test(
        "base64 is written and read as in RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, encoded: String) {
        #expect(Base64.encode(text.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
        let bare = String(encoded.prefix { $0 != "=" })
        #expect(Base64URL.encode(text.utf8) == bare)
        #expect(Base64URL.decode(bare) == Array(text.utf8))
    }

    @Test("The two alphabets differ in two characters, and neither takes the other's")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xBF]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64URL.encode(bytes) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64URL.decode("+/+/") == nil)
    }

    @Test(
        "Only one text stands for a sequence of bytes",
        arguments: [
            "Zh==", "Zm9=", "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zm9v=", "Zg==Zg==", "Zm9v\n", "Zm 9",
            "Zmöv",
        ]
    )
    func strictStandard(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(
        "Only one unpadded text stands for a sequence of bytes",
        arguments: ["Zh", "Zm9", "Z", "Zg==", "Zm9vZ", " Zg", "Zg\0"]
    )
    func strictURL(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("Bytes of every length and value come back")
    func roundTrip() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }

    @Test("Parts are joined with their lengths before them, as the CPace draft shows")
    func lengthValue() {
        #expect(
            lvCat(Array("1234".utf8), Array("5".utf8), [], Array("678".utf8)) == [4] + Array("1234".utf8) + [
                1, 0x35, 0, 3,
            ] + Array("678".utf8)
        )
        #expect(lvCat(Array(0..<127)) == [0x7F] + Array(0..<127))
        #expect(lvCat(Array(0..<128)) == [0x80, 0x01] + Array(0..<128))
        #expect(leb128(16_384) == [0x80, 0x80, 0x01])
        #expect(lvCat().isEmpty)
    }
}
