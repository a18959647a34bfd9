import Foundation
import TerminalScreen
import Testing

@testable import Markdown

/// The examples of CommonMark's specification, which the Debian package golang-github-yuin-goldmark-dev brings.
@Suite(.enabled(if: SpecificationExample.all != nil, "needs golang-github-yuin-goldmark-dev: scripts/setup test"))
struct CommonMarkTests {
    @Test("What an example of the specification says is shown, all of it and in order")
    func textSurvives() async throws {
        let examples = try #require(SpecificationExample.all)
        #expect(examples.count > 600)
        for example in examples where Self.outdated[example.example] == nil {
            for columns in [20, 200] {
                await Task.yield()
                let shown = Self.shown(example.markdown, columns: columns)
                let text = example.text
                let isWhole = if example.addsMarks { Self.has(shown, text) } else { Self.withoutBlanks(shown) == text }
                #expect(isWhole, "example \(example.example) at \(columns): \(text)\nis shown as\n\(shown)")
            }
        }
    }

    private static func shown(_ markdown: String, columns: Int) -> String {
        var screen = TerminalScreen(columns: columns, rows: 1000)
        screen.write(MarkdownStream.rows(of: markdown, with: MarkdownOptions(columns: columns)))
        #expect(screen.faults == [])
        return screen.shown
    }

    fileprivate static func withoutBlanks(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { !$0.properties.isWhitespace }
    }

    /// Whether a text has all scalars of another one, in order, among its own.
    private static func has(_ text: String, _ scalars: [Unicode.Scalar]) -> Bool {
        var rest = text.unicodeScalars[...]
        for scalar in scalars {
            guard let place = rest.firstIndex(of: scalar) else { return false }
            rest = rest[rest.index(after: place)...]
        }
        return true
    }

    /// cmark-gfm follows version 0.29 of the specification, the examples are of version 0.30; and why.
    private static let outdated = [
        28: "a number that stands for no character is shown as U+FFFD",
        171: "a text area is a block of HTML that ends with an empty line",
        533: "the definition comes later: the brackets are text, and emphasis goes beyond them",
        534: "the definition comes later: the brackets are text, and emphasis goes beyond them",
        632: "a tag whose attribute has quotes in a way that HTML does not know",
    ]

    /// Where items of a list are as close as they are in the text, though one empty line between two of them would put
    /// one between all; and a tag whose attribute has quotes in a way that HTML does not know.
    private static let different: Set = [314, 315, 316, 317, 326, 632]

    /// Where a definition comes after the text that needs it, has several lines, or a name with an
    /// escaped bracket or whose letters have another case beyond ASCII.
    private static let later: Set = [
        23, 33, 193, 194, 195, 196, 198, 203, 204, 206, 214, 217, 218, 526, 527, 528, 529, 530, 531, 532, 533, 534,
        538, 539, 540, 541, 542, 548, 552, 553, 554, 555, 556, 557, 558, 559, 560, 561, 564, 565, 567, 568, 569, 570,
        572, 575, 576, 581, 582, 583, 584, 585, 586, 587, 588, 590, 592,
    ]

    @Test("Blocks that are told apart line by line are those that cmark-gfm finds in the whole text")
    func sameBlocks() throws {
        for example in try #require(SpecificationExample.all) {
            if Self.different.contains(example.example) || Self.later.contains(example.example) { continue }
            let options = MarkdownOptions(columns: 80)
            let streamed = String(decoding: MarkdownStream.rows(of: example.markdown, with: options), as: UTF8.self)
            var writer = RowWriter(options: options, hasRows: false)
            BlockRenderer.write(Array(example.markdown.utf8), to: &writer)
            let whole = String(decoding: writer.takeRows(), as: UTF8.self)
            #expect(streamed == whole, "example \(example.example): \(example.markdown.debugDescription)")
        }
    }
}

struct SpecificationExample: Decodable {
    var markdown: String
    var html: String
    var example: Int

    static let all: [SpecificationExample]? = {
        let path = "/usr/share/gocode/src/github.com/yuin/goldmark/_test/spec.json"
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return try? JSONDecoder().decode([SpecificationExample].self, from: data)
    }()

    /// The text of the HTML without tags and white space. The specification's HTML has only these entities.
    var text: [Unicode.Scalar] {
        var (text, isInTag) = ("", false)
        for scalar in html.unicodeScalars {
            if scalar == "<" { isInTag = true }
            if !isInTag { text.unicodeScalars.append(scalar) }
            if scalar == ">" { isInTag = false }
        }
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
            text = text.replacingOccurrences(of: entity, with: character)
        }
        return CommonMarkTests.withoutBlanks(text)
    }

    /// Whether more is shown than the text: bullets, bars, rules, addresses, names of languages, tags.
    var addsMarks: Bool {
        let silent = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "em", "strong", "pre", "code", "br /"]
        return html.split(separator: "<", omittingEmptySubsequences: false).dropFirst().contains { part in
            let tag = part.prefix { $0 != ">" }
            return !silent.contains { tag == $0 || tag == "/" + $0 }
        }
    }
}
