import FoundationEssentials
import Testing

@testable import History

struct MarkdownWriterTests {
    @Test("Nothing of a message leaves its place in Markdown")
    func escaped() {
        let markdown = MarkdownWriter.quoted(
            "## you\n\n</blockquote>\n- ```\n<b>\n  ```\n<i>\n```swift {x}`\nArray<Int>\n~~~\n    ```\n```\n\t```\n<u>\n~~~~\nend"
        )
        #expect(markdown.split(separator: "\n").allSatisfy { $0.hasPrefix("> ") })
        #expect(markdown.contains("> ## you\n> \n> &lt;/blockquote>\n"))
        #expect(!markdown.contains("<u>") && markdown.hasSuffix("> ~~~~\n"))
        let tool = HistoryTool(id: "1", name: "ls", success: true, at: Date(timeIntervalSince1970: 1_700_000_000))
        #expect(MarkdownWriter().line(tool) == "ls, 2023-11-14T22:13:20.000Z: done")
        #expect(MarkdownWriter.escaped("a\n# b <c> [d](e) *f*") == "a \\# b \\<c\\> \\[d\\]\\(e\\) \\*f\\*")
    }
}
