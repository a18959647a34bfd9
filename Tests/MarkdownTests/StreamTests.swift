import Foundation
import TerminalScreen
import Testing

@testable import Markdown

/// Text that comes piece by piece.
struct StreamTests {
    /// What a terminal shows in the end if it draws after every piece.
    static func screen(_ pieces: [String], columns: Int, rows: Int) -> TerminalScreen {
        var screen = TerminalScreen(columns: columns, rows: rows)
        var stream = MarkdownStream(MarkdownOptions(columns: columns, hasLinks: true))
        var region = LiveRegion()
        for piece in pieces {
            stream.feed(piece)
            let finished = stream.takeRows()
            screen.write(region.show(finished: finished, open: stream.openRows(), columns: columns, most: rows - 1))
        }
        stream.finish()
        screen.write(region.show(finished: stream.takeRows(), open: [], columns: columns, most: rows - 1))
        return screen
    }

    static let document = try! String(contentsOf: screens.appending(path: "document.md"), encoding: .utf8)
    static let screens = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Screens")

    /// Texts whose meaning changes with what follows.
    static let turning = [
        "a\nb\n===\nc\n---\nd", "- a\n  -\n  - b\n\n  c\n- d", "| a | b |\n|---|---|\n| 1 | 2 |\n\nx",
        "```swift\nlet a = 1\n```\nb",
        "~~~\na\n~~\n~~~~\nb", "[a]: http://b\n\n[a] and [c]\n\n[c]: http://d", "> a\nb\n> c\n\nd",
        "1. a\n2. b\n\n   c\n1. d\n- e",
        "    a\n\n\n    b\nc", "<div>\n*a*\n\nb", "**a *b* c** `d` ~~e~~", "- [x] a\n- [ ] b",
        "a\r\nb\rc\u{2028}d\u{85}e",
        "x\u{301}e\u{301} 👩‍🌾 日本語の文章は空白がない", "* * *\n***\n- - -", "[^1]: a\n[^2]: b\n\nc[^1]",
        "\u{1B}[31mred\u{202E}\u{7}",
    ]

    @Test("A text that is cut anywhere is shown as the whole text is", arguments: [(40, 12), (80, 50), (17, 4)])
    func cuts(columns: Int, rows: Int) async {
        for text in Self.turning + [Self.document] {
            let whole = Self.screen([text], columns: columns, rows: rows)
            #expect(whole.faults == [], "\(text)")
            let scalars = text.unicodeScalars
            for place in scalars.indices {
                await Task.yield()
                let pieces = [String(scalars[..<place]), String(scalars[place...])]
                let screen = Self.screen(pieces, columns: columns, rows: rows)
                guard screen.shown == whole.shown, screen.faults == [] else {
                    Issue.record(
                        "cut behind \(pieces[0].debugDescription): \(screen.faults)\n\(screen.shown)\n≠\n\(whole.shown)"
                    )
                    break
                }
            }
        }
    }

    @Test(
        "A text that comes character by character is shown as the whole text is",
        arguments: [(40, 12), (80, 50), (17, 4)]
    )
    func characters(columns: Int, rows: Int) async {
        for text in Self.turning + [Self.document] {
            await Task.yield()
            let whole = Self.screen([text], columns: columns, rows: rows)
            let screen = Self.screen(text.unicodeScalars.map { String($0) }, columns: columns, rows: rows)
            #expect(screen.shown == whole.shown)
            #expect(screen.faults == [])
        }
    }

    @Test("Rows that are finished are never taken back, and lines of a long block of code are finished as they come")
    func finishedOnce() {
        var stream = MarkdownStream(MarkdownOptions(columns: 40))
        stream.feed("```\n")
        for number in 1...100 {
            stream.feed("line \(number)\n")
            #expect(stream.takeRows() == Array("  line \(number)\n".utf8))
            #expect(stream.openRows() == [])
        }
        stream.feed("```\n- one\n- two\n- th")
        let bullet = "\u{1B}[2m• \u{1B}[0m"
        #expect(stream.takeRows() == Array("\n\(bullet)one\n".utf8))
        #expect(stream.openRows() == [Array("\(bullet)two".utf8), Array("\(bullet)th".utf8)])
    }

    @Test("What is open is drawn into the window only, and comes whole when it has ended")
    func tallBlock() {
        let text = "> " + (1...30).map { "line \($0)" }.joined(separator: "  \n> ")
        var screen = TerminalScreen(columns: 20, rows: 10)
        var stream = MarkdownStream(MarkdownOptions(columns: 20))
        var region = LiveRegion()
        for scalar in text.unicodeScalars {
            stream.feed(String(scalar))
            screen.write(region.show(open: stream.openRows(), columns: 20, most: 9))
            #expect(screen.shown.split(separator: "\n").count <= 9)
        }
        #expect(screen.shown.hasSuffix("line 30"))
        stream.finish()
        screen.write(region.show(finished: stream.takeRows(), open: [], columns: 20, most: 9))
        #expect(screen.shown.split(separator: "\n").count == 30)
        #expect(screen.faults == [])
    }

    @Test("A link whose definition comes in a later block stays as it is")
    func laterDefinition() {
        #expect(
            ScreenTests.shown("[a]\n\n[a]: http://b\n\n[a]\n\n> [A][]") == "[a]\n\na (http://b)\n\n│ A (http://b)"
        )
    }

    @Test("The rows of a paragraph that a narrower window breaks stay as they are, and the last one is written anew")
    func brokenParagraph() {
        var stream = MarkdownStream(MarkdownOptions(columns: 20))
        var (region, screen) = (LiveRegion(), TerminalScreen(columns: 20, rows: 10))
        stream.feed("1111 2222 3333 4444 5555 66")
        screen.write(region.show(open: stream.openRows() + [[], Array("-- busy --".utf8)], columns: 20, most: 9))
        screen.resize(columns: 12)
        stream.finishRows()
        let finished = stream.takeRows()
        stream.options.columns = 12
        stream.feed("66 *7777* 8888")
        let open = stream.openRows() + [[], Array("-- busy --".utf8)]
        let out = region.show(finished: finished, open: open, columns: 12, most: 9)
        // The first row is not touched: of the second and the line below, which the window has not broken, go up two.
        #expect(String(decoding: out, as: UTF8.self).hasPrefix("\u{1B}[2A\r"), "\(out)")
        screen.write(out)
        #expect(
            screen.shown.split(separator: "\n")
                == ["1111 2222 33", "33 4444", "5555 6666", "7777 8888", "-- busy --"]
        )
        #expect(screen.faults == [])
        var list = MarkdownStream(MarkdownOptions(columns: 20))
        list.feed("- one two three four five six sev\n")
        list.finishRows()
        #expect(list.takeRows() == [])
    }

    @Test("A narrower window: what was drawn is taken away with the rows that the terminal made of it")
    func narrower() {
        var region = LiveRegion()
        _ = region.show(open: [Array("\u{1B}[1m0123456789\u{1B}[0m".utf8), Array("abc".utf8)], columns: 10, most: 19)
        let out = region.show(open: [Array("x".utf8)], columns: 4, most: 19)
        #expect(String(decoding: out, as: UTF8.self) == "\u{1B}[3A\r\u{1B}[K\u{1B}[C\u{1B}[J\rx")
    }
}
