import CompanionWire
import Testing

@Suite("Text by its bytes")
struct ByteTextTests {
    @Test(
        "A separator is found whatever stands beside it",
        arguments: ["a\u{600}/b", "a/\u{301}b", "a\u{200D}/\u{200D}b", "a\u{110BD}/\u{FE0F}b", "\u{600}/", "/\u{301}"]
    )
    func separators(text: String) throws {
        #expect(text.has("/"))
        let parts = text.parts("/", omittingEmpty: false).map(String.init)
        #expect(parts.count == 2 && parts.joined(separator: "/").isSame(as: text))
        let (before, after) = try #require(text.cut(at: "/"))
        #expect([before, after].map(String.init) == parts)
        let last = try #require(text.cut(atLast: "/"))
        #expect([last.before, last.after].map(String.init) == parts)
        #expect((text + "/x").cut(atLast: "/")?.after == "x" && "x".cut(at: "/") == nil)
    }

    @Test("Beginnings, ends and parts are bytes")
    func pieces() {
        #expect("http://\u{301}host".begins(with: "http://") && "host\u{600}/".ends(with: "/"))
        #expect("http://\u{301}host".dropping(prefix: "http://")?.isSame(as: "\u{301}host") == true)
        #expect("a\u{600}.json".dropping(suffix: ".json")?.isSame(as: "a\u{600}") == true)
        #expect("x".dropping(prefix: "xy") == nil && "x".dropping(suffix: "yx") == nil)
        #expect("xaab".has("aab") && "xaaab".has("aab") && !"xaa".has("aab") && "x".has("") && !"".has("x"))
        #expect("a,b,,c".parts(",") == ["a", "b", "c"] && "a,b,c".parts(",", maxSplits: 1) == ["a", "b,c"])
        #expect("".parts(",").isEmpty && "".parts(",", omittingEmpty: false) == [""])
    }

    @Test("Two spellings of one character are two texts, and a Kelvin sign is no K")
    func spellings() {
        #expect("caf\u{E9}" == "cafe\u{301}" && !"caf\u{E9}".isSame(as: "cafe\u{301}"))
        #expect(Set(["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"].map(ByteText.init(_:))).count == 2)
        #expect("\u{212A}" == "K" && !"\u{212A}".isSame(as: "K") && !"\u{212A}x".begins(with: "K"))
        #expect(!"e\u{301}".begins(with: "\u{E9}") && "e\u{301}".begins(with: "e"))
    }
}
