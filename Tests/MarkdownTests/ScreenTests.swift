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
        var styles = false
        var testDescription: String { name }
    }

    @Test(
        "A document with every element, at 40, 80 and 200 columns, and in colours",
        arguments: [40, 80, 200].map { Case(name: "text-\($0)", options: MarkdownOptions(columns: $0)) }
            + [
                Case(name: "styles-80", options: MarkdownOptions(columns: 80, hasLinks: true), styles: true)
            ]
    )
    func golden(_ golden: Case) throws {
        var screen = TerminalScreen(columns: golden.options.columns, rows: 200, showsStyles: golden.styles)
        screen.write(MarkdownStream.rows(of: StreamTests.document, with: golden.options))
        #expect(screen.faults == [])
        let file = StreamTests.screens.appending(path: golden.name + ".txt")
        if ProcessInfo.processInfo.environment["PAIRTOOL_WRITE_SCREENS"] != nil {
            try (screen.shown + "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == screen.shown + "\n")
    }

    static func shown(_ text: String, columns: Int = 40, links: Bool = false) -> String {
        var screen = TerminalScreen(columns: columns, rows: 1000, showsStyles: links)
        screen.write(MarkdownStream.rows(of: text, with: MarkdownOptions(columns: columns, hasLinks: links)))
        #expect(screen.faults == [])
        return screen.shown
    }

    @Test("A table that does not fit is shown as records")
    func records() {
        let table = "| One | Two | Three |\n|-|-|-|\n| aaaaaaaaaa | bbbbbbbbbbbb | cccccccccc |\n| d | | f |"
        #expect(
            Self.shown(table, columns: 20)
                == "One: aaaaaaaaaa\nTwo: bbbbbbbbbbbb\nThree: cccccccccc\n\nOne: d\nThree: f"
        )
    }

    @Test("Text is broken between words, wide characters anywhere, and a word that is too long where the row is full")
    func wrapping() {
        #expect(Self.shown("aaa bbb ccc", columns: 7) == "aaa bbb\nccc")
        #expect(Self.shown("日本語の文章", columns: 5) == "日本\n語の\n文章")
        #expect(Self.shown("abcdefghij kl", columns: 4) == "abcd\nefgh\nij\nkl")
        #expect(
            Self.shown("ae\u{301}e\u{301}e\u{301}e\u{301}e\u{301} x", columns: 4)
                == "ae\u{301}e\u{301}e\u{301}\ne\u{301}e\u{301} x"
        )
        #expect(Self.shown("👩‍🌾👩‍🌾👩‍🌾", columns: 4) == "👩‍🌾👩‍🌾\n👩‍🌾")
        #expect(Self.shown("``   ab``", columns: 3) == "ab")
        #expect(Self.shown("```\nabcdefgh\n```", columns: 8) == "  abcdef\n  gh")
    }

    @Test("Only addresses of the web and of mailboxes are links to the terminal, and none of its control characters")
    func links() {
        #expect(Self.shown("[a](http://b/é;c)", links: true) == "‹http://b/%C3%A9;c›‹4›a‹/›‹0› (http://b/é;c)")
        #expect(Self.shown("[a](javascript:b)", links: true) == "‹4›a‹0› (javascript:b)")
        #expect(Self.shown("[a](http://b&#27;c)", links: true) == "‹4›a‹0› (http://b␛c)")
        #expect(
            Self.shown("<me@example.org>", links: true) == "‹mailto:me@example.org›‹4›me@example.org‹0›‹/›"
        )
        #expect(
            Self.shown("(http://a/b_c). `http://d`", links: true)
                == "(‹http://a/b_c›http://a/b_c‹/›). ‹35›http://d‹0›"
        )
        #expect(
            Self.shown("see HTTPS://a/b, www.c.org/d. me.you+it@e.org", columns: 80, links: true)
                == "see ‹HTTPS://a/b›HTTPS://a/b‹/›, ‹http://www.c.org/d›www.c.org/d‹/›. "
                + "‹mailto:me.you+it@e.org›me.you+it@e.org‹/›"
        )
        // Not within a word, and not without a domain.
        for text in ["xhttps://a/b", "awww.b.org", "a@b", "@a.org", "www.", "a@b..org"] {
            #expect(Self.shown(text, links: true) == text)
        }
    }

    @Test(
        "A link shows where it leads, unless its text is the same host",
        arguments: [
            ("bank.example", "https://evil.example", false), ("https://good", "https://bad", false),
            ("the bank", "https://bank.example", false), ("bank.example", "https://bank.example/a?b", true),
            ("BANK.example/x", "https://bank.example/y", true), ("https://a/b", "http://a/c", true),
            ("bank.example", "https://bank.example@evil.example", false),
            ("bank.example@evil.example", "https://bank.example@evil.example", false),
            ("bank.example", "https://bank.example.evil.example", false),
            ("bank.example", "https://bank.example:1", false),
            ("bank.example", "https://evil.example\\\\@bank.example", false),
            ("evil.example?bank", "https://evil.example", true),
            ("b\u{430}nk.example", "https://bank.example", false),
            ("bank\u{AD}.example", "https://bank.example", false),
            ("bank.example", "mailto:bank.example", true), ("a@b.example", "mailto:a@c.example", false),
        ]
    )
    func targets(text: String, address: String, isSame: Bool) {
        let shown = Self.shown("[\(text)](\(address))", columns: 200, links: true)
        #expect(shown.hasSuffix(")") == !isSame, "\(shown)")
        if !isSame { #expect(shown.contains(" (" + address.replacing("\\\\", with: "\\")), "\(shown)") }
    }

    @Test("A paragraph without markup is shown as one with it: blanks, breaks and lines that begin with a sign")
    func plainParagraphs() {
        let paragraphs = [
            "a  b\tc\n  d  \n   e \nf", "1. is\nno 2) list", "a\n    b  ", "a  \n  b\n=c",
            "a > b # c + d - e\nf! (g) {h}",
            "日本  語\n é\u{301}  ", "see http://a/b\nand www.c.org",
        ]
        for paragraph in paragraphs {
            for columns in [8, 80] {
                let plain = Self.shown(paragraph + ".", columns: columns, links: true)
                #expect(plain == Self.shown(paragraph + "&#46;", columns: columns, links: true))
            }
        }
        #expect(Self.shown("a \t b  \n") == "a b")
    }

    @Test("A line end within a paragraph, a quote or an item stays one, and a line that is too long is wrapped")
    func lineEnds() {
        let tree = ".\n├── README.md\n└── Sources/\n    └── main.swift"
        #expect(Self.shown(tree) == ".\n├── README.md\n└── Sources/\n└── main.swift")
        #expect(Self.shown("a *b*\nc `d`\r\ne") == "a b\nc d\ne")
        #expect(Self.shown("> a\n> b\nc\n\n- d\n  e\nf\n- g") == "│ a\n│ b\n│ c\n\n• d\n  e\n  f\n• g")
        #expect(Self.shown("aaa bbb ccc\nddd eee", columns: 7) == "aaa bbb\nccc\nddd eee")
        #expect(Self.shown("a  \nb\\\nc<br>\nd") == "a\nb\nc\nd")
        #expect(Self.shown("*a\nb* [c\nd](http://e) `f\ng`") == "a\nb c\nd (http://e) f g")
        let link = Self.shown("[c\nd](http://e)", links: true)
        #expect(link.contains("‹http://e›‹4›c‹0›‹/›\n‹http://e›‹4›d"), "\(link)")
    }

    @Test("Entities cannot bring in what sanitising has kept out")
    func entities() {
        #expect(Self.shown("a&#27;[31m&#x202E;b&NewLine;c&#8203;&#0;") == "a␛[31m\u{FFFD}b c\u{FFFD}\u{FFFD}")
    }

    @Test("A picture is shown as a link is, and a link without a text by its address")
    func pictures() {
        #expect(Self.shown("![a](http://b)") == "a (http://b)")
        #expect(Self.shown("![](http://b)") == "http://b")
        #expect(Self.shown("[ ](b.html)") == "b.html")
        #expect(Self.shown("![a](http://b)", links: true) == "‹http://b›‹3›a‹/›‹0› (http://b)")
        #expect(Self.shown("[](http://b)", links: true) == "‹http://b›‹4›http://b‹0›‹/›")
        #expect(Self.shown("[![a](http://b)](http://c)", links: true) == "‹http://c›‹3;4›a‹/›‹0› (http://c)")
        #expect(Self.shown("[![](http://b)](http://c)", links: true) == "‹http://c›‹4›http://c‹0›‹/›")
    }

    @Test("An address that terminals do not take, percent-encoded as it is, is no link")
    func longAddress() {
        let address = "http://" + String(repeating: "é", count: 400)
        #expect(Self.shown("[a](\(address))", columns: 5000, links: true) == "‹4›a‹0› (\(address))")
    }

    @Test("Tabs in code end at every fourth column")
    func tabs() {
        #expect(Self.shown("```\né\tb\naéaéa\tb\n```") == "  é   b\n  aéaéa   b")
    }

    @Test("A word in brackets before a colon is a definition only if an address follows, and nothing else")
    func notes() {
        #expect(Self.shown("[Note]: two words") == "[Note]: two words")
        #expect(Self.shown("[Note]: two words\n\nSee [Note].") == "[Note]: two words\n\nSee [Note].")
        #expect(Self.shown("[a]: two words\n[b]: c\n\n[b]") == "[a]: two words\n[b]: c\n\n[b]")
        #expect(Self.shown("[a]: b\n[Note]: two words\n\n[a]") == "[Note]: two words\n\na (b)")
    }

    @Test("The rest of a line of code that is too long for one piece stays code", arguments: ["```\n", "    "])
    func longCode(_ begin: String) {
        let isFence = begin == "```\n"
        let line = String(repeating: "x", count: 8192 - (isFence ? 0 : 4))
        for rest in ["```", "# *a*", "- b"] {
            let text = begin + line + rest + "\n" + (isFence ? "" : "    ") + "c" + (isFence ? "\n```" : "") + "\n\nd"
            let rows = Self.shown(text, columns: 10_000).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(rows.dropFirst() == ["  \(rest)", "  c", "", "d"])
        }
    }

    @Test("The code blocks of a text are those of CommonMark, also within lists and quotes")
    func codeBlocks() {
        let text = "```swift\na\n\n  b\n```\n- x\n\n  ~~~\n  c\n  ~~~\n\n> ```\n> d\n\n    e\n\n``` f ```\n\n```\ng"
        #expect(MarkdownStream.codeBlocks(of: text) == ["a\n\n  b", "c", "d", "e", "g"])
        #expect(MarkdownStream.codeBlocks(of: "\u{200D}```\nno\n```") == [""])
        let long = String(repeating: "x", count: 20_000)
        #expect(MarkdownStream.codeBlocks(of: "```\n\(long)\n```\n\n    \(long)") == [long, long])
    }

    @Test("Footnotes stay where they are")
    func footnotes() {
        #expect(Self.shown("a[^1]\n\n[^1]: word\n[^2]: two") == "a[^1]\n\n[^1]: word\n[^2]: two")
    }
}
