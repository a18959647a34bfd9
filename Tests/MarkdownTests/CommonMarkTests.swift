import Foundation
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
                let options = MarkdownOptions(columns: columns, theme: nil)
                let shown = String(decoding: MarkdownStream.rows(of: example.markdown, options), as: UTF8.self)
                var rest = Substring(shown).unicodeScalars
                for scalar in example.text {
                    guard let place = rest.firstIndex(of: scalar) else {
                        Issue.record("example \(example.example) at \(columns): \(example.text)\nis shown as\n\(shown)")
                        break
                    }
                    rest = rest[rest.index(after: place)...]
                }
            }
        }
    }

    /// cmark-gfm follows version 0.29 of the specification, the examples are of version 0.30; and why.
    private static let outdated = [
        28: "a number that stands for no character is shown as U+FFFD",
        171: "a text area is a block of HTML that ends with an empty line",
        533: "the definition comes later: the brackets are text, and emphasis goes beyond them",
        534: "the definition comes later: the brackets are text, and emphasis goes beyond them",
    ]

    /// Where items of a list are as close as they are in the text, though one empty line between two of them would put
    /// one between all; and a tag whose attribute has quotes in a way that HTML does not know.
    private static let different: Set = [314, 315, 316, 326, 632]

    @Test("Blocks that are told apart line by line are those that cmark-gfm finds in the whole text")
    func sameBlocks() throws {
        for example in try #require(SpecificationExample.all) where !Self.different.contains(example.example) {
            // A definition is known from its block on, and not before.
            if example.markdown.contains("]:") { continue }
            let options = MarkdownOptions(columns: 80, theme: nil)
            let streamed = String(decoding: MarkdownStream.rows(of: example.markdown, options), as: UTF8.self)
            var writer = RowWriter(options: options, hasRows: false)
            BlockRenderer.write(Array(example.markdown.utf8), &writer)
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
        return text.unicodeScalars.filter { !$0.properties.isWhitespace }
    }
}
