import CompanionWire
import Testing

struct TerminalTextTests {
    @Test("Unicode's separators of lines and paragraphs end lines, and are blanks where there is one line")
    func separators() {
        #expect(TerminalText.block("a\u{2028}b\u{2029}c\u{85}d\u{1B}") == "a\nb\nc\u{FFFD}d␛")
        #expect(TerminalText.line("a\u{2028}b\u{2029}c\nd") == "a b c d")
    }
}
