import CompanionWire
import Foundation
import SeededNumbers
import TerminalScreen
import Testing

@testable import Markdown

/// Text that was made to do harm. The time limits are far above what the tests take, and far below what a renderer takes
/// whose time grows with the square of a text's length.
@Suite(.timeLimit(.minutes(15))) struct HostileTests {
    private static let pieces = [
        "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{1B}]8;;http://evil\u{1B}\\", "\u{9B}31m", "\u{90}q\u{9C}", "\u{202E}",
        "\u{2066}",
        "\u{200B}", "\u{FEFF}", "\u{E0041}", "\u{2028}", "\u{2029}", "\u{85}", "\r", "\u{0}", "\u{7F}", "\u{8}",
        "\u{C}",
        "&#27;", "&#x9b;", "&#x202e;", "&NewLine;", "&Tab;", "&#0;", "&#x10FFFF;", "&amp;", "\\", "\n", "\n\n",
        "\n    ", "\t",
        " ", "   ", "```", "~~~", "```swift\n", "`", "``", "*", "**", "***", "_", "__", "~~", "~", "# ", "###### ",
        "> ", ">", "- ",
        "+ ", "1. ", "99999999. ", "0) ", "- [x] ", "---", "===", "***\n", "|", "|-|-|\n", "| a | b |\n|:-|-:|\n",
        "<div>", "</pre>",
        "<!--", "-->", "<![CDATA[", "<?", "<a href=\"", "[", "]", "](", ")", "![", "[a]: ", "[^1]: ", "[^1]",
        "<http://a\u{1B}b>",
        "http://a.b/\u{202E}c", "[x](http://y&#27;]8;;z)", "[x](javascript:alert(1))", "word", "日本語", "👩‍🌾", "e\u{301}",
        "\u{301}",
        "\u{200D}", "\u{FE0F}", "\u{600}", "ﷺ", "🇩🇪", "\u{1F3FD}", "\"", "'", "//", "/*", "@@", "+++",
    ]

    @Test("3,000 documents of control sequences, markup and odd characters: only what the renderer writes comes out")
    func documents() async {
        // Others want the processor too: tests that wait for a peer have a time limit.
        var numbers = SeededGenerator(seed: 16)
        for number in 0..<3000 {
            await Task.yield()
            var text = ""
            for _ in 0..<Int.random(in: 1...120, using: &numbers) {
                let piece = Self.pieces.randomElement(using: &numbers)!
                let times = Int.random(in: 0..<20, using: &numbers) == 0 ? 40 : 1
                text += String(repeating: piece, count: times)
            }
            let columns = [1, 2, 5, 20, 40, 80, 200].randomElement(using: &numbers)!
            let rows = MarkdownStream.rows(
                of: text,
                with: MarkdownOptions(columns: columns, hasLinks: number % 2 == 0)
            )
            // A wide character has no room in one column.
            var screen = TerminalScreen(columns: max(columns, 2), rows: 10_000)
            screen.write(rows)
            guard screen.faults == [] else {
                Issue.record("document \(number): \(screen.faults.prefix(3))\n\(text.debugDescription)")
                return
            }
        }
    }

    @Test(
        "Documents that come in pieces, drawn at each: the same screen as the whole, and nothing above the window is touched"
    )
    func pieces() async {
        var numbers = SeededGenerator(seed: 17)
        for number in 0..<300 {
            await Task.yield()
            let pieces = (0..<40).map { _ in Self.pieces.randomElement(using: &numbers)! }
            let (columns, rows) = [(20, 5), (40, 10), (80, 24)].randomElement(using: &numbers)!
            let whole = StreamTests.screen([pieces.joined()], columns: columns, rows: rows)
            let screen = StreamTests.screen(pieces, columns: columns, rows: rows)
            guard whole.shown == screen.shown, screen.faults == [] else {
                Issue.record("document \(number): \(screen.faults)\n\(pieces)\n\(screen.shown)\n≠\n\(whole.shown)")
                return
            }
        }
    }

    struct Pattern: CustomTestStringConvertible, Sendable {
        var name: String
        var begin = ""
        var piece: String
        /// How much there is of it.
        var bytes = 1 << 20
        var testDescription: String { name }
    }

    @Test(
        "A mebibyte and more of what parsers are slow at takes bounded time and memory",
        arguments: [
            Pattern(name: "one line of 3 MB", piece: "word ", bytes: 3_000_000),
            Pattern(name: "one word of 3 MB", piece: "x", bytes: 3_000_000),
            Pattern(name: "100,000 items", piece: "- item\n", bytes: 700_000),
            Pattern(name: "a paragraph of short lines", piece: "a\n"),
            Pattern(name: "code", begin: "```swift\n", piece: "let a = \"b\" // c\n", bytes: 3_000_000),
            Pattern(name: "empty lines", piece: "\n", bytes: 3_000_000),
            Pattern(name: "quotes within quotes", piece: ">"),
            Pattern(name: "quotes within quotes, line by line", piece: String(repeating: ">", count: 1000) + " a\n"),
            Pattern(name: "lists within lists", piece: "- "),
            Pattern(name: "numbers", piece: "1. "),
            Pattern(name: "an item that goes on", begin: "- a\n", piece: "  b\n"),
            Pattern(name: "brackets", piece: "["), Pattern(name: "closed brackets", piece: "]"),
            Pattern(name: "images", piece: "![[]()"), Pattern(name: "links", piece: "[a](<b"),
            Pattern(name: "emphasis", piece: "*a _b "), Pattern(name: "stars", piece: "*"),
            Pattern(name: "backquotes", piece: "`a``b```c"), Pattern(name: "tildes", piece: "~a ~~b "),
            Pattern(name: "emphasis in an item", begin: "- x\n", piece: "  *a _b [c\n"),
            Pattern(name: "comments", piece: "a <!-- "), Pattern(name: "tags", piece: "<a b=\""),
            Pattern(name: "entities", piece: "&#x1;"), Pattern(name: "ampersands", piece: "&"),
            Pattern(name: "definitions", piece: "[a]: b\n"), Pattern(name: "footnotes", piece: "[^a]: b\n"),
            Pattern(name: "references", begin: "[a]: b\n\n", piece: "[a]\n\n"),
            Pattern(name: "a wide table", piece: "|a"),
            Pattern(
                name: "a table of empty rows",
                begin: String(repeating: "|a", count: 32) + "\n" + String(repeating: "|-", count: 32) + "\n",
                piece: "|\n",
                bytes: 100_000
            ),
            Pattern(
                name: "a table of many columns",
                begin: String(repeating: "|a", count: 2000) + "\n" + String(repeating: "|-", count: 2000) + "\n",
                piece: "|\n"
            ),
            Pattern(
                name: "a table of wide rows",
                begin: "|a|b|\n|-|-|\n",
                piece: String(repeating: "|a", count: 3000) + "\n"
            ),
            Pattern(name: "combining marks", piece: "\u{301}"), Pattern(name: "joiners", piece: "👩\u{200D}"),
            Pattern(name: "wide characters", piece: "日本"), Pattern(name: "addresses", piece: "http://a "),
            Pattern(name: "open addresses", piece: "http://"), Pattern(name: "tabs", piece: "\t"),
            Pattern(name: "carriage returns", piece: "\r"), Pattern(name: "escapes", piece: "\u{1B}"),
        ]
    )
    func patterns(_ pattern: Pattern) {
        let part = String(repeating: pattern.piece, count: max(1, 16_384 / pattern.piece.utf8.count))
        var stream = MarkdownStream(MarkdownOptions(columns: 80, hasLinks: true))
        var screen = TerminalScreen(columns: 80, rows: 24)
        stream.feed(pattern.begin)
        var (fed, isFirst) = (0, true)
        while fed < pattern.bytes {
            stream.feed(part)
            fed += part.utf8.count
            let rows = stream.takeRows()
            if isFirst, !rows.isEmpty {
                screen.write(rows)
                isFirst = false
            }
            // What is held is what is open: no more than the longest item.
            #expect(stream.heldBytes <= 80 << 10)
        }
        screen.write(stream.openRows().flatMap { $0 + [UInt8(ascii: "\n")] })
        #expect(screen.faults == [])
    }

    @Test("A line of 1,000 containers, and 1,000 lines that are each nested deeper, are shown")
    func nesting() {
        for text in [
            String(repeating: "> ", count: 1000) + "end", String(repeating: "- ", count: 1000) + "end",
            (0..<1000).map { String(repeating: "  ", count: $0) + "- a\n" }.joined()
                + String(repeating: "  ", count: 1000) + "- end",
            String(repeating: "*a **", count: 1000) + "end", String(repeating: "[", count: 1000) + "end",
        ] {
            let rows = MarkdownStream.rows(of: text, with: MarkdownOptions(columns: 80))
            #expect(String(decoding: rows, as: UTF8.self).has("end"))
            #expect(rows.count < 4 * text.utf8.count + 10_000)
        }
    }
}
