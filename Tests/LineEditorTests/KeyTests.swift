import Testing

@testable import LineEditor

struct KeyTests {
    @Test(
        "Each key does to the line what it does in Emacs",
        arguments: [
            ("abc\u{1}", "|abc"), ("abc\u{1}\u{5}", "abc|"), ("abc\u{2}", "ab|c"), ("abc\u{1}\u{6}", "a|bc"),
            ("abc\u{1}\u{4}", "|bc"), ("abc\u{8}", "ab|"), ("abc\u{7F}", "ab|"), ("abc\u{2}\u{B}", "ab|"),
            ("abc def\u{15}", "|"), ("abc def\u{2}\u{15}", "|f"), ("a-b c-d\u{17}", "a-b |"),
            ("a-b c-d\u{1B}\u{7F}", "a-b c-|"), ("ab cd\u{1}\u{1B}d", "| cd"), ("ab cd\u{1}\u{1B}f", "ab| cd"),
            ("ab cd\u{1B}b", "ab |cd"), ("ab\u{14}", "ba|"), ("abc\u{1}\u{6}\u{14}", "ba|c"),
            ("ab cd\u{17}\u{19}\u{19}", "ab cdcd|"), ("a b c\u{17}\u{17}\u{19}", "a b c|"),
            ("ab\u{1}\u{B}\u{B}x\u{19}", "xab|"), ("ab\u{1B}[D", "a|b"), ("ab\u{1B}OD", "a|b"),
            ("ab\u{1B}[D\u{1B}[C", "ab|"),
            ("ab\u{1B}[D\u{1B}OC", "ab|"), ("ab\u{1B}[H", "|ab"), ("ab\u{1B}OH", "|ab"), ("ab\u{1B}[1~", "|ab"),
            ("ab\u{1B}[7~", "|ab"), ("ab\u{1B}[H\u{1B}[F", "ab|"), ("ab\u{1B}[H\u{1B}OF", "ab|"),
            ("ab\u{1B}[H\u{1B}[4~", "ab|"), ("ab\u{1B}[H\u{1B}[8~", "ab|"), ("ab\u{1B}[H\u{1B}[3~", "|b"),
            ("ab cd\u{1B}[1;5D", "ab |cd"), ("ab cd\u{1B}[5D", "ab |cd"), ("ab cd\u{1B}Od", "ab |cd"),
            ("ab cd\u{1B}[1;3D", "ab |cd"), ("ab cd\u{1}\u{1B}[1;5C", "ab| cd"), ("ab cd\u{1}\u{1B}Oc", "ab| cd"),
            ("ab\u{1B}[1;2D", "a|b"), ("a\u{1B}\rb", "a\nb|"), ("a\nb", "a\nb|"), ("a\\\rb", "a\nb|"),
            ("a\u{1B}[13;2ub", "a\nb|"), ("a\u{1B}[27;2;13~b", "a\nb|"),
            ("ab\ncd\u{1}\u{1B}[A", "|ab\ncd"), ("ab\nc\u{10}", "a|b\nc"), ("ab\nc\u{10}\u{E}", "ab\nc|"),
            ("ab\ncd\u{1B}OA\u{1B}OB", "ab\ncd|"), ("ab\ncd\u{1}", "ab\n|cd"), ("ab\ncd\u{10}\u{B}", "ab|cd"),
        ]
    )
    func key(typed: String, line: String) {
        #expect(LineState.after(typed).shown == line)
    }

    @Test("Undo takes back a run of typing at once, a run of erasing at once, and other changes one by one")
    func undo() {
        var state = LineState.after("ab cd\u{7F}\u{7F}\u{17}")
        #expect(state.shown == "|")
        state.type("\u{1F}")
        #expect(state.shown == "ab |")
        state.type("\u{1F}")
        #expect(state.shown == "ab cd|")
        state.type("\u{18}\u{15}")
        #expect(state.shown == "|")
        #expect(state.type("\u{1F}") == [.bell])
    }

    @Test("Enter accepts, Ctrl-C drops, Ctrl-D ends an empty line only; then the next line begins empty")
    func ends() {
        var state = LineState()
        #expect(state.type("ab\r") == [.accept("ab")])
        #expect(state.type("cd\u{3}") == [.drop(wasEmpty: false)])
        #expect(state.type("x\u{4}\u{7F}") == [.bell])
        #expect(state.type("\u{4}") == [.end])
        #expect(state.type("\u{3}") == [.drop(wasEmpty: true)])
        #expect(state.type("one\rtwo\r") == [.accept("one"), .accept("two")])
    }

    @Test("Two backslashes at the end are text")
    func backslashes() {
        var state = LineState()
        #expect(state.type("a\\\\\r") == [.accept("a\\\\")])
    }

    @Test("Ctrl-L, Ctrl-Z and Ctrl-X Ctrl-E are passed on")
    func others() {
        var state = LineState()
        #expect(state.type("a\u{C}\u{1A}\u{18}\u{5}") == [.clearScreen, .suspend, .edit("a")])
        state.replace("from\r\nthe \u{1B}editor")
        #expect(state.shown == "from\nthe editor|")
    }

    @Test(
        "Unknown escape sequences are swallowed whole",
        arguments: [
            "\u{1B}[99~", "\u{1B}[1;2;3;4z", "\u{1B}[?1;2c", "\u{1B}[<0;12;3M", "\u{1B}OP", "\u{1B}[15~", "\u{1B}[[A",
            "\u{1B}]0;title\u{7}", "\u{1B}]10;rgb:0/0/0\u{1B}\\", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_x\u{1B}\\",
            "\u{1B}^x\u{1B}\\", "\u{1B}Xx\u{1B}\\", "\u{1B}[2\u{18}", "\u{1B}]x\u{1A}", "\u{1B}z", "\u{1B}[?2004;1$y",
            "\u{1B}[" + String(repeating: "1;", count: 500) + "m", "\u{1B}[I", "\u{1B}[O", "\u{1B}[201~",
        ]
    )
    func unknown(sequence: String) {
        #expect(LineState.after("a\(sequence)b").shown == "ab|")
    }

    @Test("A lone Escape is a key after the time limit; what follows it later is text")
    func escape() {
        var state = LineState()
        state.type("\u{1B}")
        #expect(state.limit != nil)
        #expect(state.endWait() == nil)
        #expect(state.limit == nil)
        state.type("b[A")
        #expect(state.shown == "b[A|")
        state.type("\u{1B}]half a title")
        _ = state.endWait()
        state.type("c")
        #expect(state.shown == "b[Ac|")
    }

    @Test(
        "Invalid UTF-8 becomes U+FFFD, as the standard library decodes it",
        arguments: [
            [0xFF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80],
            [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xE0, 0x80, 0x80], [0x80, 0x80],
        ] as [[UInt8]]
    )
    func invalid(bytes: [UInt8]) {
        var state = LineState()
        state.type(bytes + [UInt8(ascii: "x")])
        #expect(state.buffer.text == String(decoding: bytes + [UInt8(ascii: "x")], as: UTF8.self))
    }

    @Test("The cursor moves over what people see as one character")
    func clusters() {
        #expect(LineState.after("ae\u{301}\u{2}").shown == "a|e\u{301}")
        #expect(LineState.after("👩‍👩‍👧x\u{2}\u{2}").shown == "|👩‍👩‍👧x")
        #expect(LineState.after("a🇩🇪\u{7F}").shown == "a|")
        #expect(LineState.after("e\u{2}x\u{5}\u{301}").shown == "xe\u{301}|")
    }

    @Test("Reports of the focus are found wherever they are cut, and are no keys")
    func focus() {
        var reports = FocusReports()
        var seen: [Bool] = []
        for byte in "a\u{1B}[Ib\u{1B}[\u{1B}[O\u{1B}[1I\u{1B}OI[O\u{1B}[I".utf8 {
            if let report = reports.take([byte]) { seen.append(report) }
        }
        #expect(seen == [true, false, true])
        #expect(reports.take("\u{1B}[Ix\u{1B}[O".utf8) == false)
        #expect(reports.take("plain".utf8) == nil)
        var state = LineState()
        #expect(state.type("a\u{1B}[Ib\u{1B}[Oc").isEmpty)
        #expect(state.shown == "abc|")
    }
}
