import Foundation
import TerminalScreen
import Testing

@testable import Markdown

/// What one document with every element looks like. To change the screens, look at what the test shows, and run it with
/// `PAIRTOOL_WRITE_SCREENS=1`.
struct ScreenTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var options: MarkdownOptions
        var testDescription: String { name }
    }

    @Test(
        "A document with every element, at 40, 80 and 200 columns, without colours and with",
        arguments: [40, 80, 200].map { Case(name: "plain-\($0)", options: MarkdownOptions(columns: $0, theme: nil)) }
            + [
                Case(name: "dark-80", options: MarkdownOptions(columns: 80, theme: .dark, hasLinks: true)),
                Case(name: "light-80", options: MarkdownOptions(columns: 80, theme: .light)),
            ]
    )
    func golden(_ golden: Case) throws {
        var screen = TerminalScreen(
            columns: golden.options.columns,
            rows: 200,
            showsStyles: golden.options.theme != nil
        )
        screen.write(MarkdownStream.rows(of: StreamTests.document, golden.options))
        #expect(screen.faults == [])
        let file = StreamTests.screens.appending(path: golden.name + ".txt")
        if ProcessInfo.processInfo.environment["PAIRTOOL_WRITE_SCREENS"] != nil {
            try (screen.shown + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == screen.shown + "\n")
    }

    private func shown(_ text: String, columns: Int = 40, theme: MarkdownOptions.Theme? = nil, links: Bool = false)
        -> String
    {
        var screen = TerminalScreen(columns: columns, rows: 100, showsStyles: theme != nil)
        screen.write(MarkdownStream.rows(of: text, MarkdownOptions(columns: columns, theme: theme, hasLinks: links)))
        #expect(screen.faults == [])
        return screen.shown
    }

    @Test("A table that does not fit is shown as records")
    func records() {
        let table = "| One | Two | Three |\n|-|-|-|\n| aaaaaaaaaa | bbbbbbbbbbbb | cccccccccc |\n| d | | f |"
        #expect(
            shown(table, columns: 20) == "One: aaaaaaaaaa\nTwo: bbbbbbbbbbbb\nThree: cccccccccc\n\nOne: d\nThree: f"
        )
    }

    @Test("Text is broken between words, wide characters anywhere, and a word that is too long where the row is full")
    func wrapping() {
        #expect(shown("aaa bbb ccc", columns: 7) == "aaa bbb\nccc")
        #expect(shown("日本語の文章", columns: 5) == "日本\n語の\n文章")
        #expect(shown("abcdefghij kl", columns: 4) == "abcd\nefgh\nij\nkl")
        #expect(
            shown("ae\u{301}e\u{301}e\u{301}e\u{301}e\u{301} x", columns: 4)
                == "ae\u{301}e\u{301}e\u{301}\ne\u{301}e\u{301} x"
        )
        #expect(shown("👩‍🌾👩‍🌾👩‍🌾", columns: 4) == "👩‍🌾👩‍🌾\n👩‍🌾")
        #expect(shown("```\nabcdefgh\n```", columns: 8) == "  abcdef\n  gh")
    }

    @Test("Only addresses of the web and of mailboxes are links to the terminal, and none of its control characters")
    func links() {
        #expect(shown("[a](http://b/é;c)", theme: .dark, links: true) == "‹http://b/%C3%A9;c›‹4›a‹0›‹/›")
        #expect(shown("[a](javascript:b)", theme: .dark, links: true) == "‹4›a‹0› (javascript:b)")
        #expect(shown("[a](http://b&#27;c)", theme: .dark, links: true) == "‹4›a‹0› (http://b␛c)")
        #expect(
            shown("<me@example.org>", theme: .dark, links: true) == "‹mailto:me@example.org›‹4›me@example.org‹0›‹/›"
        )
        #expect(
            shown("(http://a/b_c). `http://d`", theme: .dark, links: true)
                == "(‹http://a/b_c›http://a/b_c‹/›). ‹93›http://d‹0›"
        )
        // An address that shows another one.
        #expect(
            shown("[https://good](https://bad)", theme: .dark, links: true)
                == "‹https://bad›‹4›https://good‹/›‹0› (https://bad)"
        )
    }

    @Test("Entities cannot bring in what sanitising has kept out")
    func entities() {
        #expect(shown("a&#27;[31m&#x202E;b&NewLine;c&#8203;&#0;") == "a␛[31m\u{FFFD}b c\u{FFFD}\u{FFFD}")
    }

    @Test("Footnotes stay where they are")
    func footnotes() {
        #expect(shown("a[^1]\n\n[^1]: word\n[^2]: two") == "a[^1]\n\n[^1]: word\n[^2]: two")
    }
}
