import Testing

@testable import LineEditor

struct PasteTests {
    @Test("A paste is one piece: its line ends and keys are text, and its control characters are gone")
    func piece() {
        var state = LineState()
        #expect(state.type("<" + Bytes.paste("a\r\nb\rc\u{1B}[31m\u{3}\u{4}\u{7F}\u{9B}\td\n") + ">").isEmpty)
        #expect(state.shown == "<a\nb\nc[31m\td\n>|")
        state.type("\u{1F}\u{1F}")
        #expect(state.shown == "<|")
    }

    @Test("Two bytes that are a control character once others between them are gone are not text")
    func hiddenControls() {
        for bytes: [UInt8] in [[0xC2, 0x1B, 0x9B], [0xC2, 0xC2, 0x80, 0x80], [0xC2, 0x07, 0x00, 0x85]] {
            let text = PlainText.of(bytes)
            #expect(!text.unicodeScalars.contains { (0x80...0x9F).contains($0.value) }, "\(bytes)")
            var state = LineState()
            state.type(Array(Bytes.pasteBegin.utf8) + bytes + Array(Bytes.pasteEnd.utf8))
            #expect(!state.buffer.text.unicodeScalars.contains { (0x80...0x9F).contains($0.value) })
        }
    }

    @Test("The end of a paste may be split over reads, and what looks like its beginning is text")
    func split() {
        let bytes = Array((Bytes.paste("x\u{1B}[20y~\u{1B}[201z") + "!").utf8)
        for place in bytes.indices {
            var state = LineState()
            state.type(Array(bytes[..<place]))
            if (Bytes.pasteBegin.utf8.count..<bytes.count - 1).contains(place) { #expect(state.limit == .seconds(1)) }
            state.type(Array(bytes[place...]))
            #expect(state.shown == "x[20y~[201z!|")
        }
    }

    @Test("A paste whose end was lost is dropped by Ctrl-C after a silence; a later byte that is none of it is text")
    func lostEnd() {
        var state = LineState()
        state.type("a" + Bytes.pasteBegin + "b\u{3}c")
        #expect(state.endWait() == nil && state.limit == nil)
        state.type("d\u{3}e")
        #expect(state.limit == .seconds(1))
        #expect(state.endWait() == nil)
        #expect(state.type("\u{3}") == [.drop(wasEmpty: false)])
        state.type("f")
        #expect(state.shown == "f|")
        var whole = LineState()
        whole.type(Bytes.pasteBegin + "b")
        _ = whole.endWait()
        whole.type("c" + Bytes.pasteEnd + "d")
        #expect(whole.shown == "bcd|")
    }

    @Test("A large paste is shown abbreviated, moved over in one step, and sent in full", .timeLimit(.minutes(15)))
    func large() {
        let line = "0123456789 the quick brown fox\n"
        let text = String(repeating: line, count: 10_000_000 / line.utf8.count)
        var state = LineState()
        let bytes = Array(("see " + Bytes.paste(text) + " there").utf8)
        for start in stride(from: 0, to: bytes.count, by: 4095) {
            state.type(Array(bytes[start..<min(start + 4095, bytes.count)]))
        }
        #expect(state.buffer.position.count == 4 + 1 + 6)
        let layout = LineLayout(prompt: "> ", buffer: state.buffer, columns: 80, rule: testRule)
        #expect(layout.rows.map(\.text) == ["> see [pasted 322581 lines, 9999 kB] there"])
        #expect(state.type("\r") == [.accept("see " + text + " there")])
    }

    @Test("An empty paste and one of control characters alone are nothing")
    func empty() {
        #expect(LineState.after("a" + Bytes.paste("") + Bytes.paste("\u{1}\u{1B}") + "b").shown == "ab|")
    }
}
