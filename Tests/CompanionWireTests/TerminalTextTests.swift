import CompanionWire
import Testing

struct TerminalTextTests {
    @Test("Unicode's separators of lines and paragraphs end lines, and are blanks where there is one line")
    func separators() {
        #expect(TerminalText.block("a\u{2028}b\u{2029}c\u{85}d\u{1B}") == "a\nb\nc\u{FFFD}d␛")
        #expect(TerminalText.line("a\u{2028}b\u{2029}c\nd") == "a b c d")
    }

    @Test(
        "What is not seen, and makes another name of one, is shown",
        arguments: [
            "\u{AD}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{3164}", "\u{FFA0}", "\u{115F}", "\u{1160}", "\u{34F}",
            "\u{180E}", "\u{2060}", "\u{FEFF}", "\u{17B4}", "\u{1D173}",
        ]
    )
    func unseen(_ scalar: String) {
        for text in ["Stu\(scalar)dio", "\(scalar)Studio", "Studio\(scalar)", "É\(scalar)"] {
            let shown = text.unicodeScalars.map { String($0) == scalar ? "\u{FFFD}" : String($0) }.joined()
            #expect(TerminalText.isUnsafe(text))
            #expect(TerminalText.line(text) == shown && TerminalText.block(text) == shown)
        }
    }

    @Test(
        "Joiners that change how their neighbours look stay",
        arguments: [
            "👩\u{200D}🌾", "👩🏽\u{200D}🌾", "❤️\u{200D}🔥", "می\u{200C}خواهم", "क\u{94D}\u{200D}ष",
            "র\u{200D}\u{9CD}য",
        ]
    )
    func joiners(_ text: String) {
        #expect(!TerminalText.isUnsafe(text) && TerminalText.line(text).isSame(as: text))
    }

    @Test("In JSON it is an escape, but for joiners that change how their neighbours look")
    func json() {
        #expect(TerminalText.json("{\"a\":\"Stu\u{200D}dio\"}") == #"{"a":"Stu\u200ddio"}"#)
        #expect(TerminalText.json("\"👩\u{200D}🌾\"") == "\"👩\u{200D}🌾\"")
        #expect(TerminalText.json("\"\u{61C}\u{200D}\"") == #""\u061c\u200d""#)
    }

    @Test("What stands in the place of a removed letter joins nothing")
    func replaced() {
        #expect(TerminalText.line("a\u{61C}\u{200D}b") == "a\u{FFFD}\u{FFFD}b")
    }
}
