import CompanionWire
import FoundationEssentials
import Glibc
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
        #expect(MarkdownWriter().line(tool) == "ls, \(LocalTime.text(tool.at)): done")
        #expect(MarkdownWriter.escaped("a\n# b <c> [d](e) *f*") == "a \\# b \\<c\\> \\[d\\]\\(e\\) \\*f\\*")
    }

    @Test("Names, dates and times are readable, and nothing at the beginning of a line is markup")
    func readable() {
        #expect(MarkdownWriter.escaped("my-garden, 2026-11-27 14:03:22") == "my-garden, 2026-11-27 14:03:22")
        #expect(MarkdownWriter.escaped("- a") == "\\- a" && MarkdownWriter.escaped("--- b") == "\\-\\-\\- b")
        #expect(MarkdownWriter.escaped("http://x") == "http\\:\\/\\/x")
    }

    @Test("A time is that of this machine's clocks")
    func local() throws {
        let date = try #require(popen("date -d @1700000000 '+%F %T'", "r"))
        defer { pclose(date) }
        var line = [UInt8](repeating: 0, count: 64)
        let count = fread(&line, 1, line.count, date)
        let shown = String(decoding: line[..<count], as: UTF8.self)
        #expect(LocalTime.text(Date(timeIntervalSince1970: 1_700_000_000)) + "\n" == shown)
    }
}
