import SeededNumbers
import TerminalScreen
import Testing

@testable import LineEditor

struct RenderTests {
    /// A line that is shown on a terminal.
    struct Shown {
        var state: LineState
        var terminal: TerminalScreen
        var renderer: LineRenderer

        init(columns: Int, rows: Int = 40, reflows: Bool = true, history: [String] = []) {
            state = LineState(history: history)
            terminal = TerminalScreen(columns: columns, rows: rows, takesLongRows: true, reflows: reflows)
            renderer = LineRenderer(
                prompt: "› ",
                size: .init(columns: columns, rows: rows),
                reflows: reflows,
                rule: testRule
            )
            draw()
        }

        mutating func draw() { terminal.write(renderer.draw(state)) }

        mutating func type(_ text: String) {
            state.type(text)
            draw()
        }

        mutating func resize(_ columns: Int, rows: Int = 40) {
            terminal.resize(columns: columns)
            renderer.resize(.init(columns: columns, rows: rows))
            draw()
        }
    }

    @Test("A long line goes on in further rows, and the cursor is where the text goes on")
    func rows() {
        var shown = Shown(columns: 10)
        shown.type("12345678")
        #expect(shown.terminal.text == ["› 12345678", ""])
        #expect(shown.terminal.cursor == .init(row: 1, column: 0))
        shown.type("90\n\nx")
        #expect(shown.terminal.text == ["› 12345678", "90", "", "  x"])
        shown.type("\u{1}" + Bytes.up + Bytes.up + "\u{1}\u{4}")
        #expect(shown.terminal.text == ["› 23456789", "0", "", "  x"])
        #expect(shown.terminal.cursor == .init(row: 0, column: 2))
        shown.type("\u{B}\u{B}\u{B}\u{B}")
        #expect(shown.terminal.text == ["›"])
    }

    @Test("Wide characters that do not fit go to the next row as a whole; combining marks take no column")
    func wide() {
        var shown = Shown(columns: 7)
        shown.type("漢字か\u{2}")
        #expect(shown.terminal.text == ["› 漢字", "か"])
        #expect(shown.terminal.cursor == .init(row: 1, column: 0))
        shown.type("e\u{301}")
        #expect(shown.terminal.text == ["› 漢字", "e\u{301}か"])
    }

    @Test("A window narrower than the prompt still shows all of the line")
    func narrow() {
        var shown = Shown(columns: 1)
        shown.type("a漢")
        #expect(shown.terminal.text == ["›", "", "a", "?", ""])
    }

    @Test("After the window has changed, the line is whole, nothing of the old one is left, and what is above stays")
    func resize() {
        for reflows in [true, false] {
            var shown = Shown(columns: 30, reflows: reflows)
            shown.terminal = TerminalScreen(columns: 30, rows: 40, takesLongRows: true, reflows: reflows)
            shown.terminal.write("above\r\n")
            _ = shown.renderer.clearScreen()
            shown.draw()
            shown.type("the quick brown fox jumps over the lazy dog\u{1B}b\u{1B}b")
            shown.resize(11)
            #expect(
                shown.terminal.text
                    == ["above", "› the quick", " brown fox ", "jumps over ", "the lazy do", "g"].map(Self.trimmed)
            )
            #expect(shown.terminal.cursor == .init(row: 4, column: 4))
            shown.resize(25)
            #expect(shown.terminal.text == ["above", "› the quick brown fox jum", "ps over the lazy dog"])
            shown.resize(8)
            shown.resize(80)
            #expect(shown.terminal.text == ["above", "› the quick brown fox jumps over the lazy dog"])
        }
    }

    private static func trimmed(_ text: String) -> String {
        text.last == " " ? String(text.dropLast()) : text
    }

    @Test("After random keys and sizes, the screen is what a terminal shows that sees the line for the first time")
    func random() {
        var generator = SeededGenerator(seed: 7)
        let keys = [
            "a", "b ", "漢", "e\u{301}", "\u{1}", "\u{5}", "\u{2}", "\u{6}", "\u{17}", "\u{B}", "\u{15}", "\n", "\u{1F}",
            Bytes.up, Bytes.down, "\u{1B}b", "the quick brown fox jumps over the lazy dog ", "\u{12}", "\u{7F}",
        ]
        for reflows in [true, false] {
            for _ in 0..<300 {
                var shown = Shown(
                    columns: 20,
                    rows: 400,
                    reflows: reflows,
                    history: ["one", "two\nlines and more of them"]
                )
                for _ in 0..<30 {
                    if Int.random(in: 0..<6, using: &generator) == 0 {
                        shown.resize(Int.random(in: 3...40, using: &generator), rows: 400)
                    } else {
                        shown.type(keys.randomElement(using: &generator)!)
                    }
                    var fresh = LineRenderer(
                        prompt: "› ",
                        size: .init(columns: shown.terminal.columns, rows: 400),
                        reflows: reflows,
                        rule: testRule
                    )
                    var terminal = TerminalScreen(columns: shown.terminal.columns, rows: 400, takesLongRows: true)
                    terminal.write(fresh.draw(shown.state))
                    #expect(shown.terminal.text == terminal.text)
                    #expect(shown.terminal.cursor == terminal.cursor)
                    #expect(shown.terminal.faults == [])
                }
            }
        }
    }

    @Test("Of a text that is taller than the window, the rows around the cursor are shown; all of it stays at the end")
    func tall() {
        var shown = Shown(columns: 20, rows: 5)
        shown.type((1...20).map(String.init).joined(separator: "\n"))
        #expect(shown.terminal.text.count == 5)
        #expect(shown.terminal.text.last == "  20")
        for _ in 1...19 {
            shown.type(Bytes.up)
            #expect(shown.terminal.isCursorVisible && shown.terminal.text.count == 5)
        }
        #expect(shown.terminal.text.first == "› 1")
        shown.terminal.write(shown.renderer.finish(shown.state))
        #expect(shown.terminal.text.count == 21)
        #expect(shown.terminal.text.prefix(2) == ["› 1", "  2"])
    }

    @Test("Candidates are listed below the line, in columns, and are gone with the next key")
    func candidates() throws {
        var shown = Shown(columns: 20, rows: 6)
        let request = try #require(shown.state.type("/\t").first?.request)
        _ = shown.state.complete(request, with: Completion(word: "/", candidates: ["/a", "/bcdefg", "/c", "/d"]))
        shown.draw()
        #expect(shown.terminal.text == ["› /", "/a       /c", "/bcdefg  /d"])
        #expect(shown.terminal.cursor == .init(row: 0, column: 3))
        shown.type("x")
        #expect(shown.terminal.text == ["› /x"])
        let many = try #require(shown.state.type("\t").first?.request)
        _ = shown.state.complete(many, with: Completion(word: "/x", candidates: (0..<50).map { "/x\($0) candidate" }))
        shown.draw()
        #expect(shown.terminal.text == ["› /x", "/x0 candidate", "/x1 candidate", "… 50 in all"])
    }

    @Test("A search shows what is looked for, and that it was not found")
    func search() {
        var shown = Shown(columns: 40, history: ["make all"])
        shown.type("\u{12}ma")
        #expect(shown.terminal.text == ["(search: ma) make all"])
        shown.type("x")
        #expect(shown.terminal.text == ["(not found: max) make all"])
        shown.type("\u{7}")
        #expect(shown.terminal.text == ["›"])
    }

    @Test("Unchanged rows are not written again")
    func economy() {
        var shown = Shown(columns: 20)
        shown.type(String(repeating: "x", count: 200))
        #expect(shown.renderer.draw(shown.state).isEmpty)
        shown.state.type("y")
        #expect(shown.renderer.draw(shown.state).utf8.count < 60)
        shown.state.type("\u{2}")
        #expect(shown.renderer.draw(shown.state) == "\r\u{1B}[2C")
    }
}
