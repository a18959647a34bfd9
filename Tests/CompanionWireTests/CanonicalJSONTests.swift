import CompanionWire
import FoundationEssentials
import Testing

@Suite struct CanonicalJSONTests {
    private func canonical(_ json: String) throws -> String {
        String(decoding: try CanonicalJSON(parsing: Array(json.utf8)).bytes, as: UTF8.self)
    }

    @Test("Names are sorted by their UTF-16 code units: the example of RFC 8785, section 3.2.3")
    func sorting() throws {
        let input = #"""
            {
              "\u20ac": "Euro Sign",
              "\r": "Carriage Return",
              "\ufb33": "Hebrew Letter Dalet With Dagesh",
              "1": "One",
              "\ud83d\ude00": "Emoji: Grinning Face",
              "\u0080": "Control",
              "\u00f6": "Latin Small Letter O With Diaeresis"
            }
            """#
        let sorted = [
            ("\\r", "Carriage Return"), ("1", "One"), ("\u{80}", "Control"),
            ("\u{f6}", "Latin Small Letter O With Diaeresis"), ("\u{20ac}", "Euro Sign"),
            ("\u{1f600}", "Emoji: Grinning Face"), ("\u{fb33}", "Hebrew Letter Dalet With Dagesh"),
        ]
        let expected = "{" + sorted.map { #""\#($0)":"\#($1)""# }.joined(separator: ",") + "}"
        #expect(Array(try canonical(input).utf8) == Array(expected.utf8))
    }

    @Test("Strings and words are written in the shortest way: the example of RFC 8785, section 3.2.2")
    func escaping() throws {
        let input = #"{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#
        let expected = #"{"literals":[null,true,false],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(try canonical(input) == expected)
    }

    @Test("Every control character has one way to be written")
    func controlCharacters() throws {
        let text = String(String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0 as UInt32) }))
        let short = [8: #"\b"#, 9: #"\t"#, 10: #"\n"#, 12: #"\f"#, 13: #"\r"#]
        let escapes = (0..<0x20).map { value in
            short[value] ?? #"\u00"# + (value < 16 ? "0" : "") + String(value, radix: 16)
        }
        let value = try CanonicalJSON(.string(text))
        #expect(String(decoding: value.bytes, as: UTF8.self) == "\"" + escapes.joined() + "\"")
        #expect(try CanonicalJSON(parsing: value.bytes) == value)
    }

    @Test(
        "What two readers could understand differently is refused",
        arguments: [
            ("", JSONValueError.Code.syntax), (" ", .syntax), ("{", .syntax), ("[1,]", .syntax),
            (#"{"a":1,}"#, .syntax),
            ("[1 2]", .syntax), (#"{"a" 1}"#, .syntax), ("{a:1}", .syntax), ("'a'", .syntax), ("nul", .syntax),
            ("nulL", .syntax), ("True", .syntax), ("NaN", .syntax), ("1 2", .syntax), ("{}x", .syntax),
            ("[1]]", .syntax),
            ("\u{feff}{}", .syntax), ("/**/1", .syntax), ("+1", .syntax), ("01", .syntax), ("-", .syntax),
            ("-01", .syntax),
            (".5", .syntax), ("\"\n\"", .syntax), ("\"\u{1f}\"", .syntax), (#""\x""#, .syntax), (#""\u12""#, .syntax),
            (#""\u00g0""#, .syntax), (#""\u+123""#, .syntax), (#""\"#, .syntax), (#""a"#, .syntax),
            ("1.0", .number), ("1e2", .number), ("1E2", .number), ("-0.0", .number), ("9007199254740992", .number),
            ("-9007199254740992", .number), ("99999999999999999999", .number),
            (#""\ud800""#, .text), (#""\udc00""#, .text), (#""\ud800\ud800""#, .text), (#""\ud800x""#, .text),
            (#""\ud800\n""#, .text),
            (#"{"a":1,"a":1}"#, .duplicateName), (#"{"a":1,"\u0061":2}"#, .duplicateName),
            (#"{"\u00e9":1,"e\u0301":2}"#, .duplicateName), (#"[{"b":{"a":1,"c":2,"a":3}}]"#, .duplicateName),
        ]
    )
    func refused(text: String, code: JSONValueError.Code) {
        let error = #expect(throws: JSONValueError.self) { try CanonicalJSON(parsing: Array(text.utf8)) }
        #expect(error?.code == code, "\(text): \(String(describing: error))")
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [[0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3]] as [[UInt8]]
    )
    func encoding(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let error = #expect(throws: JSONValueError.self) { try CanonicalJSON(parsing: [quote] + bytes + [quote]) }
        #expect(error?.code == .text)
    }

    @Test("The largest and smallest integers are read, and minus zero is zero")
    func integers() throws {
        #expect(
            try canonical("[9007199254740991,-9007199254740991,-0, 0]") == "[9007199254740991,-9007199254740991,0,0]"
        )
    }

    @Test("Thirty-two levels are read, thirty-three are not")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try canonical(nested(32)) == nested(32))
        let error = #expect(throws: JSONValueError.self) { try canonical(nested(33)) }
        #expect(error?.code == .depth)
        #expect(throws: JSONValueError.self) { try canonical(String(repeating: #"{"a":["#, count: 100_000)) }
        // Side by side is not one in another.
        #expect(try canonical("[" + Array(repeating: "[]", count: 40).joined(separator: ",") + "]").utf8.count == 121)
    }

    private static let deep = (1...33).reduce(JSONValue.null) { value, _ in .array([value]) }

    @Test(
        "A value that readers could understand differently cannot be signed",
        arguments: [
            (.number(1.5), .number), (["a": [.number(5)]], .number), (.integer(1 << 53), .number),
            (deep, .depth),
        ] as [(JSONValue, JSONValueError.Code)]
    )
    func unsignable(value: JSONValue, code: JSONValueError.Code) {
        let error = #expect(throws: JSONValueError.self) { try CanonicalJSON(value) }
        #expect(error?.code == code)
    }

    private static let sample = Array(
        #"{"a":[1,-20,null,true,false,{}],"b\n":"x\u00e9\ud83d\ude00 \"ö","c":{"d":"","e":[[]]}}"#.utf8
    )

    @Test("A document that ends early is refused, wherever it ends")
    func truncation() throws {
        _ = try CanonicalJSON(parsing: Self.sample)
        for length in Self.sample.indices {
            #expect(throws: JSONValueError.self) { try CanonicalJSON(parsing: Array(Self.sample[..<length])) }
        }
    }

    @Test("Whatever one byte is replaced by, the document is refused or has one canonical form")
    func replacement() throws {
        var accepted = 0
        for index in Self.sample.indices {
            for byte in UInt8.min ... .max {
                var bytes = Self.sample
                bytes[index] = byte
                guard let value = try? CanonicalJSON(parsing: bytes) else { continue }
                accepted += 1
                let canonical = value.bytes
                let again = try CanonicalJSON(parsing: canonical)
                guard again == value, again.bytes == canonical else {
                    Issue.record("byte \(index) as \(byte)")
                    return
                }
            }
        }
        #expect(accepted > Self.sample.count)
    }

    @Test("Models go to values and back")
    func models() throws {
        let chat = CompanionChat(
            id: "c/1",
            projectId: "p",
            title: "Ein „Titel“\n",
            lastUpdatedAt: Date(timeIntervalSince1970: 1_795_253_400)
        )
        let value = try CanonicalJSON(encoding: chat)
        #expect(value["lastUpdatedAt"]?.string == "2026-11-21T09:30:00.000Z")
        #expect(try value.decode(CompanionChat.self) == chat)
        #expect(throws: JSONValueError.self) { try CanonicalJSON(encoding: [1.5]) }
        #expect(throws: JSONValueError.self) { try CanonicalJSON([1, 2]).decode(CompanionChat.self) }
    }

    @Test("A value inside a model is coded like any other JSON")
    func codable() throws {
        let response = CommandResponse(
            commandId: "i",
            replayed: false,
            serverTime: Date(timeIntervalSince1970: 0),
            result: try CanonicalJSON(["n": 7, "t": "x", "b": true, "l": [.null, "y"], "o": [:]])
        )
        let data = try CompanionJSON.encoder(sorted: true).encode(response)
        #expect(
            String(decoding: data, as: UTF8.self)
                == #"{"commandId":"i","ok":true,"replayed":false,"result":{"b":true,"l":[null,"y"],"n":7,"o":{},"t":"x"},"serverTime":"1970-01-01T00:00:00.000Z"}"#
        )
        #expect(try CompanionJSON.decoder().decode(CommandResponse.self, from: data) == response)
    }
}
