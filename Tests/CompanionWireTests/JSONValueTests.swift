import CompanionWire
import FoundationEssentials
import Testing

@Suite("JSON of others is read leniently")
struct JSONValueTests {
    private func read(_ text: String) -> JSONValue? { JSONValue(lenient: Array(text.utf8)) }

    @Test(
        "Values are what they say",
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false ", .bool(false)), ("7", .integer(7)), ("-0", .integer(0)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(0x1p63)), ("1.5", .number(1.5)),
            ("1e3", .number(1000)), ("-2.5E-1", .number(-0.25)), (#""""#, .string("")),
            (#""a\"\\\/\b\f\n\r\té""#, .string("a\"\\/\u{8}\u{C}\n\r\té")), (#""\ud83c\udf39\u00e9""#, .string("🌹é")),
            ("[]", .array([])), ("[1,[2],\"]\"]", .array([1, .array([2]), "]"])), ("{}", .object([:])),
            (#"{"a":{"b":[]},"":1}"#, .object(["a": ["b": []], "": 1])),
        ] as [(String, JSONValue)]
    )
    func values(text: String, value: JSONValue) {
        #expect(read(text) == value)
    }

    @Test(
        "What software writes instead of JSON is taken",
        arguments: [
            ("[NaN,Infinity,-Infinity,1e999]", .array([.null, .null, .null, .null])),
            ("\u{FEFF}{}", .object([:])), ("\"a\u{1B}[1m\nb\"", .string("a\u{1B}[1m\nb")),
            (#""\ud83c x \udf39 \u0041""#, .string("\u{FFFD} x \u{FFFD} A")), (#""\e[0m""#, .string("e[0m")),
            (#"{"a":1,"a":2}"#, .object(["a": 2])), (#""\ud83c\u0041""#, .string("\u{FFFD}A")),
        ] as [(String, JSONValue)]
    )
    func mended(text: String, value: JSONValue) {
        #expect(read(text) == value)
    }

    @Test("Bytes that are not UTF-8 become U+FFFD")
    func bytes() {
        #expect(JSONValue(lenient: [0x22, 0x61, 0xFF, 0x62, 0x22]) == "a\u{FFFD}b")
        #expect(JSONValue(lenient: [0x22, 0x5C, 0x6E, 0xC3, 0x22]) == "\n\u{FFFD}")
    }

    @Test(
        "What is no JSON is nothing",
        arguments: [
            "", " ", "{", "[", "[1", "[1,]", "[,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, "\"", #""\"#,
            #""\u12"#, #""\u12g4""#, "tru", "nul", "Nan", "-", "1-1", "1.2.3", "{} {}", "[]x", "'a'", "hello",
        ]
    )
    func nothing(text: String) {
        #expect(read(text) == nil)
    }

    @Test("Nothing that is cut off is taken for whole, and nothing of it is read behind its end")
    func cut() {
        let text = Array(#"{"a":[1.5,"x\n\u00e9🌹",{"b":null}],"c":true}"#.utf8)
        #expect(JSONValue(lenient: text) != nil)
        for count in 0..<text.count { #expect(JSONValue(lenient: Array(text[..<count])) == nil, "\(count)") }
    }

    @Test("Values may be 100 deep, and no deeper")
    func depth() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(read(nested(100)) != nil)
        #expect(read(nested(101)) == nil)
        #expect(read(String(repeating: #"{"a":"#, count: 1 << 20)) == nil)
    }

    @Test("What is written is read again")
    func roundTrip() {
        let value: JSONValue = ["a": [1, "x\u{7}\"\\🌹", .number(0.1), .bool(false), .null], "b": [:]]
        #expect(JSONValue(lenient: value.json) == value)
    }

    @Test("A word may be a number, and a count a text")
    func related() {
        #expect(read("7")?.word == "7" && read(#""x""#)?.word == "x" && read("[]")?.word == nil)
        #expect(read("7.0")?.count == 7 && read(#""12""#)?.count == 12 && read(#""1.9""#)?.count == 1)
        #expect(read(#""x""#)?.count == nil && read("1e300")?.count == nil && read("true")?.count == nil)
        #expect(read("7")?.string == nil && read(#""7""#)?.integer == nil && read("2.5")?.integer == nil)
    }

    // MARK: In other text

    private func found(_ line: String) -> [JSONValue?] {
        JSONValue.objects(in: Array(line.utf8), with: "m").map { $0["m"] }
    }

    @Test(
        "Objects are found behind and between other text",
        arguments: [
            "\u{1B}]0;title\u{7}", "\u{1B}[2K\u{1B}[1G", "\u{FEFF}", "Loading {not json} … ", "{", "{\"unended ",
            #"{"level":30,"a":{"m":2}}"#, "{}[]\"{\"", "a\0b",
        ]
    )
    func noise(text: String) {
        #expect(found(text + #"{"m":1}"#) == [1])
        #expect(found(#"{"m":1}"# + text) == [1])
        #expect(found(#"{"m":1}"# + text + #"{"m":3,"x":{"m":4}} ok"#) == [1, 3])
    }

    @Test("Parts of a broken object are not taken for objects")
    func parts() {
        #expect(found(#"{"m":1,"x":[{"m":2}],oops}"#) == [])
        #expect(found(#"{"x":"# + String(repeating: "[", count: 120) + #"{"m":2}"#) == [])
        #expect(found(#"{"x":"{\"m\":2}","m":1}"#) == [1])
    }

    @Test("Text with many braces takes no time that grows with its square")
    func braces() {
        let nested = String(repeating: #"{"a":["#, count: 40)
        let open = String(repeating: nested + String(repeating: "{},", count: 2000) + "!", count: 20)
        #expect(found(open) == [])
        #expect(found(String(repeating: "{", count: 1 << 18)) == [])
        #expect(found(String(repeating: #"{"a"#, count: 1 << 16)) == [])
    }
}
